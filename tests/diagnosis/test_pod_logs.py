"""Logs are told apart once, however many nodes and pods are looked at."""

from collections.abc import Iterator
from typing import Any

import msgspec

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import CLUSTER, Target
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.diagnosis.ways import log_command
from lockgate.model.facts import Log
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = tuple(all_rules())
BARE = {"metadata": {"labels": {}}, "status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "4"}}}


class Counting(tuple[Log, ...]):
    """Logs that count how often somebody went through them."""

    passes = 0

    def __iter__(self) -> Iterator[Log]:  # type: ignore[explicit-override]
        Counting.passes += 1
        return super().__iter__()


def _passes(nodes: int, node: dict[str, Any]) -> int:
    """How often a look at a cluster of so many nodes, each with its plugin, goes through the logs."""
    world: dict[str, Any] = {"nodes": {}, "pods": {}, "daemon_sets": {"gpu-operator/plugin": {"like": "plugin"}}}
    for number in range(nodes):
        world["nodes"][f"n{number}"] = node
        world["pods"][f"gpu-operator/p{number}"] = {"like": "plugin", "spec": {"nodeName": f"n{number}"}}
    logs = Counting(Log("gpu-operator", f"p{number}", "nvidia-device-plugin", "started") for number in range(nodes))
    Counting.passes = 0
    diagnose(msgspec.structs.replace(snapshot(world), logs=logs), Target(CLUSTER, ""), RULES)
    return Counting.passes


def test_more_nodes_make_no_more_passes_through_the_logs() -> None:
    assert _passes(4, {}) == _passes(40, {})


def test_nor_do_nodes_of_which_none_is_known_to_have_a_gpu() -> None:
    assert _passes(4, BARE) == _passes(40, BARE)


def test_a_pods_logs_are_its_own_in_the_order_in_which_they_were_read() -> None:
    first, other, again = Log("a", "x", "one", ""), Log("b", "x", "one", ""), Log("a", "x", "two", "")
    logs = PodLogs((first, other, again))
    assert logs.of("a", "x") == (first, again)
    assert logs.of("a", "y") == ()


def test_a_log_is_read_by_one_command_of_one_container_or_of_all() -> None:
    assert log_command("a", "x") == "kubectl logs -n a x --all-containers --tail=50"
    assert log_command("a", "x", "one", previous=True, lines=9) == "kubectl logs -n a x -c one --previous --tail=9"
