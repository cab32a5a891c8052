"""One fault explains another only where they meet: on the same node, and in the order in which operands wait."""

from typing import Any

import pytest

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.ground import Ground
from lockgate.diagnosis.target import parse_target
from lockgate.model.finding import Diagnosis
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = all_rules()
_GONE = {"status": {"capacity": {"nvidia.com/gpu": "0"}, "allocatable": {"nvidia.com/gpu": "0"}}}
_NO_IMAGE = {
    "status": {
        "phase": "Pending",
        "conditions": [{"type": "Ready", "status": "False"}],
        "containerStatuses": [{"name": "c", "state": {"waiting": {"reason": "ImagePullBackOff"}}}],
    }
}
_TOOLKIT, _PLUGIN, _EXPORTER = (
    f"gpu-operator/{name}-gpu-a"
    for name in ("nvidia-container-toolkit-daemonset", "nvidia-device-plugin-daemonset", "nvidia-dcgm-exporter")
)


def why(ask: str, **facts: Any) -> Diagnosis:
    return diagnose(snapshot(facts), parse_target(ask, "default"), RULES)


def told(answer: Diagnosis) -> list[tuple[str, str]]:
    return [(f.id, f.follows) for f in answer.findings]


def test_a_waiting_pod_is_told_what_is_wrong_with_the_operand_that_its_nodes_wait_for() -> None:
    answer = why(
        "pod/x",
        operator={"nodes": ["gpu-a"], "stuck": {"gpu-a": "container-toolkit"}},
        nodes={"gpu-a": _GONE},
        pods={"default/x": {}, _TOOLKIT: _NO_IMAGE},
    )
    assert told(answer) == [
        ("pod/image", ""),
        ("operands/init-waits", "pod/image"),
        ("operands/plugin-gone", "operands/init-waits"),
    ]


def test_what_explains_nothing_of_the_pod_is_not_told_of_it() -> None:
    answer = why(
        "pod/x",
        operator={"nodes": ["gpu-a"]},
        nodes={"gpu-a": {}},
        pods={"default/x": {}, "default/y": {"like": "running", "spec": {"nodeName": "gpu-a"}}, _EXPORTER: _NO_IMAGE}
        | {"default/z": {"like": "running", "spec": {"nodeName": "gpu-a"}}},
    )
    assert told(answer) == [("scheduling/all-held", "")]


def test_an_exporter_that_does_not_start_does_not_explain_a_plugin_that_does_not() -> None:
    crash = {
        "status": {
            "conditions": [{"type": "Ready", "status": "False"}],
            "containerStatuses": [{"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}],
        }
    }
    answer = why(
        "",
        operator={"nodes": ["gpu-a"]},
        nodes={"gpu-a": _GONE},
        pods={_EXPORTER: _NO_IMAGE, _PLUGIN: crash},
    )
    assert dict(told(answer))["operands/plugin-gone"] == ""


def test_the_same_follower_stands_under_its_cause_on_one_node_and_alone_on_another() -> None:
    answer = why(
        "",
        operator={"nodes": ["gpu-a", "gpu-b"], "stuck": {"gpu-a": "container-toolkit"}},
        nodes={"gpu-a": _GONE, "gpu-b": _GONE},
        pods={_TOOLKIT: _NO_IMAGE},
    )
    gone = {f.follows: f.affects for f in answer.findings if f.id == "operands/plugin-gone"}
    assert gone == {"operands/init-waits": ("gpu-a",), "": ("gpu-b",)}


def test_the_image_of_somebodys_pod_explains_nothing_about_the_operands() -> None:
    answer = why(
        "",
        operator={"nodes": ["gpu-a"], "stuck": {"gpu-a": "container-toolkit"}},
        nodes={"gpu-a": _GONE},
        pods={"default/x": {"like": "creating", **_NO_IMAGE}},
    )
    assert dict(told(answer))["operands/init-waits"] == ""


def test_a_crash_that_a_finding_quotes_already_is_not_told_beside_it() -> None:
    crash = {
        "status": {
            "conditions": [{"type": "Ready", "status": "False"}],
            "containerStatuses": [
                {
                    "name": "nvidia-device-plugin",
                    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                    "lastState": {"terminated": {"reason": "Error", "exitCode": 1}},
                }
            ],
        }
    }
    answer = why("", operator={"nodes": ["gpu-a"]}, nodes={"gpu-a": _GONE}, pods={_PLUGIN: crash})
    assert dict(told(answer))["pod/container-failed"] == "operands/plugin-gone"


@pytest.mark.parametrize(
    ("cause", "effect", "explains"),
    [
        ({"nodes": {"a"}}, {"nodes": {"a", "b"}}, True),
        ({"nodes": {"a"}}, {"nodes": {"b"}}, False),
        ({"nodes": {"a"}, "subject": 5}, {"nodes": {"b"}, "subject": 5}, False),
        ({"own": True, "subject": 5}, {"subject": 5}, True),
        ({}, {"nodes": {"b"}}, True),
        ({"operand": "driver"}, {"operand": "device-plugin"}, True),
        ({"operand": "device-plugin"}, {"operand": "driver"}, False),
        ({"operand": "device-plugin"}, {"operand": "operator-validator"}, True),
        ({"operand": "dcgm-exporter"}, {}, False),
        ({"own": True}, {}, False),
    ],
)
def test_where_causes_and_effects_meet(cause: dict[str, Any], effect: dict[str, Any], explains: bool) -> None:
    here, there = (
        Ground(**{"subject": n} | {k: frozenset(v) if k == "nodes" else v for k, v in given.items()})
        for n, given in enumerate((cause, effect))
    )
    assert here.explains(there) is explains
    assert here.explains(here)


@pytest.mark.parametrize(
    ("causes", "told", "covered"),
    [
        ([{"a"}, {"b"}], True, True),
        ([{"a"}], True, False),
        ([{"a"}], False, True),
        ([{"a"}, None], True, True),
    ],
)
def test_a_finding_that_says_its_nodes_wants_a_cause_for_each(
    causes: list[set[str] | None], told: bool, covered: bool
) -> None:
    grounds = [Ground(subject=n, nodes=None if c is None else frozenset(c)) for n, c in enumerate(causes)]
    assert Ground(subject=9, nodes=frozenset({"a", "b"}), told=told).is_covered(grounds) is covered


def test_what_is_over_is_why_nothing_else_is_wrong() -> None:
    """A person keeps the plugin off one node, which is a remark; that the policy is not ready has another reason."""
    off = {"metadata": {"labels": {"nvidia.com/gpu.deploy.device-plugin": "false"}}}
    answer = why(
        "",
        operator={"nodes": ["gpu-a", "gpu-b"]},
        nodes={"gpu-a": {}, "gpu-b": off},
        cluster_policies={"cluster-policy": {"status": {"state": "notReady"}}},
    )
    assert dict(told(answer))["operator/policy-not-ready"] == ""
