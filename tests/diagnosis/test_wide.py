"""A node, an operand and the whole cluster as what is asked about."""

import io
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lockgate.collect.offline import from_path
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import TargetMissingError, parse_target
from lockgate.model.finding import Diagnosis, Severity, Verdict
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = all_rules()
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def why(ask: str, **facts: Any) -> Diagnosis:
    return diagnose(snapshot(facts), parse_target(ask), RULES)


def test_the_same_fault_on_several_nodes_is_told_once_with_their_names() -> None:
    dead = {"status": {"allocatable": {"nvidia.com/gpu": "0"}}}
    answer = why("", nodes={"gpu-a": dead, "gpu-b": dead, "gpu-c": READY})
    (finding,) = answer.findings
    assert finding.affects == ("gpu-a", "gpu-b")
    assert {e.object for e in finding.evidence} >= {"node/gpu-a", "node/gpu-b"}


def test_the_worst_comes_first_and_a_cause_is_as_bad_as_what_follows_from_it() -> None:
    off = {"metadata": {"labels": {"nvidia.com/gpu.deploy.device-plugin": "false"}}}
    gone = {"status": {"capacity": {"nvidia.com/gpu": "0"}, "allocatable": {"nvidia.com/gpu": "0"}}}
    nodes = {"gpu-a": {**off, **gone}, "gpu-b": {"spec": {"unschedulable": True}}}
    alone = why("node/gpu-a", nodes=nodes)
    asked = why("", nodes=nodes, pods={"default/x": {"spec": {"nodeSelector": {"kubernetes.io/hostname": "gpu-a"}}}})
    assert alone.findings[0].severity is Severity.WARNING
    ranks = [f.severity.rank for f in asked.findings if not f.follows]
    assert ranks == sorted(ranks, reverse=True)


def test_a_pod_of_the_cluster_is_named_with_its_namespace() -> None:
    answer = why("", nodes={"gpu-a": {"spec": {"unschedulable": True}}}, pods={"ml/x": {}})
    assert (answer.verdict, answer.findings[0].affects) == (Verdict.BROKEN, ("gpu-a", "ml/x"))
    assert [f.id for f in answer.findings] == ["scheduling/cordoned"]


def test_a_full_cluster_without_anyone_waiting_is_healthy() -> None:
    pods = {f"ml/{n}": {"like": "running", "spec": {"nodeName": "gpu-a"}} for n in "ab"}
    assert why("", nodes={"gpu-a": READY}, pods=pods).verdict is Verdict.HEALTHY


def test_a_taint_that_keeps_ordinary_pods_away_is_no_fault_of_the_node() -> None:
    taints = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    assert why("node/gpu-a", nodes={"gpu-a": {"spec": {"taints": taints}}}).verdict is Verdict.HEALTHY


def test_what_cannot_be_read_is_not_called_fine() -> None:
    answer = why("operand/device-plugin", missing=["nodes"])
    assert (answer.verdict, answer.exit_code) == (Verdict.UNKNOWN, 4)
    assert "operands/left-out" in {n.id for n in answer.not_checked}


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        ("node/gpu-b", "did you mean gpu-a"),
        ("operand/toolkit", "there is: device-plugin"),
        ("operand/device-plugn", "did you mean device-plugin"),
    ],
)
def test_a_name_that_is_not_there_gets_what_is(ask: str, says: str) -> None:
    with pytest.raises(TargetMissingError, match=says):
        why(ask, nodes={"gpu-a": {}})


def test_a_thousand_nodes_take_seconds() -> None:
    facts = snapshot({"nodes": {f"gpu-{n:04}": READY for n in range(1000)}})
    started = time.process_time()
    assert diagnose(facts, parse_target(""), RULES).verdict is Verdict.HEALTHY
    assert time.process_time() - started < 5


TRAP = from_path(str(Path(__file__).parents[1] / "bundles/dropin-trap.tgz"), io.BytesIO())


@pytest.mark.parametrize("ask", ["pod/trapped", "node/gpu-b", ""])
def test_a_trap_that_the_runtime_has_spoken_of_is_one_story_whatever_is_asked(ask: str) -> None:
    answer = diagnose(TRAP, parse_target(ask), RULES)
    found = [(f.id, f.severity, f.follows) for f in answer.findings]
    assert found == [
        ("containerd/dropin-overridden", Severity.BLOCKER, ""),
        ("containerd/handler-missing", Severity.BLOCKER, "containerd/dropin-overridden"),
    ]
    assert not {r.id for r in answer.ruled_out} & {"containerd/handler-missing", "containerd/not-configured"}


def test_a_trap_that_waits_for_a_restart_is_seen_on_its_node() -> None:
    answer = diagnose(msgspec.structs.replace(TRAP, events=()), parse_target("node/gpu-b"), RULES)
    assert [(f.id, f.severity) for f in answer.findings] == [("containerd/dropin-overridden", Severity.WARNING)]
    assert "the next restart of containerd takes it away" in answer.findings[0].summary


def test_waiting_pods_of_one_kind_speak_for_each_other_and_each_is_named() -> None:
    pods: dict[str, Any] = {f"ml/w{n}": {} for n in range(300)} | {
        "ml/a": {"like": "running", "spec": {"nodeName": "gpu-a"}}
    }
    pods["ml/b"] = {"like": "running", "spec": {"nodeName": "gpu-a"}}
    (finding,) = why("", nodes={"gpu-a": READY}, pods=pods).findings
    assert finding.id == "scheduling/all-held"
    assert set(finding.affects) == {f"ml/w{n}" for n in range(300)}


def test_pods_that_were_not_looked_at_are_counted() -> None:
    pods = {f"ml/w{n}": {"spec": {"nodeSelector": {"wish": str(n)}}} for n in range(60)}
    answer = why("", nodes={"gpu-a": READY}, pods=pods)
    assert "10 more pods that are not well were not looked at" in answer.not_checked[-1].reason
