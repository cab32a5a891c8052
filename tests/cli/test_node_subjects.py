"""What `lint` knows of a node besides its files, from a bundle: times, and the names that NVIDIA's plugin hands out."""

import datetime as dt
from typing import Any

import msgspec
import pytest

from lockgate.cli.node_subjects import node_subjects
from lockgate.lint import all_rules
from lockgate.lint.engine import lint
from lockgate.lint.subject import HandedOut, NodeFacts
from lockgate.model.facts import NodeFiles, Snapshot
from lockgate.model.finding import Severity
from lockgate.model.objects import DaemonSet, Node

CONFIG = {"/etc/containerd/config.toml": "version = 2\n"}
GPU = "nvidia.com/gpu"


def facts(**sections: Any) -> NodeFacts | None:
    (subject,) = node_subjects(Snapshot(**sections))
    return subject.node


def node(gpus: str = "1", present: str = "true") -> Node:
    body = {"metadata": {"name": "a", "labels": {f"{GPU}.present": present}}, "status": {"allocatable": {GPU: gpus}}}
    return msgspec.convert(body, Node)


def plugin(strategy: str) -> DaemonSet:
    container = {"name": "plugin", "env": [{"name": "DEVICE_LIST_STRATEGY", "value": strategy}]}
    return msgspec.convert({"spec": {"template": {"spec": {"containers": [container]}}}}, DaemonSet)


def test_times_come_from_the_outputs_of_two_commands() -> None:
    outputs = {
        "containerd-started": "ActiveEnterTimestamp=@1795982400",
        "containerd-files": "2026-11-29 20:00:00.0 +0000 /etc/containerd/config.toml",
    }
    found = facts(node_files=(NodeFiles("a", CONFIG, outputs),))
    at = dt.datetime(2026, 11, 29, 20, tzinfo=dt.UTC)
    assert found == NodeFacts(started=at, modified={"/etc/containerd/config.toml": at})


@pytest.mark.parametrize(
    ("strategy", "gpus", "expected"),
    [
        ("cdi-cri", "1", HandedOut("k8s.device-plugin.nvidia.com/gpu")),
        ("envvar,cdi-annotations", "1", HandedOut("k8s.device-plugin.nvidia.com/gpu")),
        ("envvar", "1", None),
        ("cdi-cri", "0", None),  # nobody can be bound to it, so nothing is handed out
    ],
)
def test_nvidias_plugin_hands_out_names_when_its_strategy_is_one_of_cdi(
    strategy: str, gpus: str, expected: HandedOut | None
) -> None:
    found = facts(node_files=(NodeFiles("a", CONFIG),), nodes=(node(gpus),), daemon_sets=(plugin(strategy),))
    assert found is not None
    assert found.hands_out == expected


def test_a_node_without_gpus_needs_nothing() -> None:
    assert facts(node_files=(NodeFiles("a", CONFIG),), nodes=(node(present="false"),)) is None


def test_a_runtime_whose_handlers_a_kubelet_that_is_ready_lists_serves_it_on_nodes_without_gpus_as_well() -> None:
    off = {"/etc/containerd/config.toml": 'disabled_plugins = ["cri"]\n'}
    listed = {
        "metadata": {"name": "a"},
        "status": {
            "nodeInfo": {"containerRuntimeVersion": "containerd://2.1.9"},
            "runtimeHandlers": [{"name": ""}, {"name": "runc"}],
        },
    }
    unlisted = listed | {"status": {"nodeInfo": {"containerRuntimeVersion": "containerd://2.1.9"}}}
    away = {"conditions": [{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]}
    as_it_was = listed | {"status": listed["status"] | away}
    told = {True: Severity.WARNING, False: Severity.BLOCKER}
    for body in (listed, unlisted, as_it_was):
        (subject,) = node_subjects(Snapshot(node_files=(NodeFiles("a", off),), nodes=(msgspec.convert(body, Node),)))
        assert subject.serves_cri == (body is listed)
        assert [f.severity for f in lint(subject, all_rules()).findings] == [told[subject.serves_cri]]
