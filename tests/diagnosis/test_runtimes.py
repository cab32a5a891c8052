"""A rule of one runtime is asked of nodes whose kubelet uses it, and of those that do not say which they use."""

import pytest

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.model.finding import Diagnosis
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = tuple(all_rules())
OF_CONTAINERD = {rule.id for rule in RULES if rule.runtime == "containerd"}
OF_CRIO = [rule.id for rule in RULES if rule.runtime == "cri-o"]


def _waiting(version: str | None) -> Diagnosis:
    """A pod whose sandbox cannot be made on such a node, of which nothing else was read."""
    facts = snapshot(
        {
            "nodes": {"gpu-a": {"status": {"nodeInfo": {"containerRuntimeVersion": version}}}},
            "pods": {
                "default/x": {"like": "creating", "spec": {"runtimeClassName": "nvidia"}},
                "gpu-operator/p": {
                    "like": "plugin",
                    "spec": {"nodeName": "gpu-a"},
                    "status": {"conditions": [{"type": "Ready", "status": "False"}]},
                },
            },
            "runtime_classes": {"nvidia": {}},
            "missing": ["node_files", "node_states", "logs"],
        }
    )
    return diagnose(facts, parse_target("pod/x", "default"), RULES)


def _open(diagnosis: Diagnosis) -> set[str]:
    return {each for n in diagnosis.not_checked for each in (n.id, *n.rules)}


def test_rules_of_both_runtimes_are_known() -> None:
    assert "containerd/dropin-overridden" in OF_CONTAINERD
    assert OF_CRIO == ["operands/crio-transient"]


@pytest.mark.parametrize("version", ["cri-o://1.34.2", "docker://27.5.1"])
def test_nothing_of_containerd_is_open_on_a_node_with_another_runtime(version: str) -> None:
    assert _open(_waiting(version)) & OF_CONTAINERD == set()


@pytest.mark.parametrize("version", ["containerd://2.1.9", None, "", "something"])
def test_it_is_open_where_the_node_uses_containerd_or_does_not_say(version: str | None) -> None:
    assert "containerd/dropin-overridden" in _open(_waiting(version))


def test_whether_the_handler_is_there_is_asked_of_every_runtime() -> None:
    for version in ("cri-o://1.34.2", "docker://27.5.1", "containerd://2.1.9"):
        assert "containerd/handler-missing" in _open(_waiting(version))
