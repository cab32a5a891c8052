"""Whether an operand runs everywhere it should: DESIRED 0 is never ready, and each node that lacks it is named."""

from typing import Any

import msgspec

from lockgate.model.objects import Condition, DaemonSet, Node
from lockgate.operands.catalogue import operands
from lockgate.operands.readiness import judge

LABEL = "nvidia.com/gpu.deploy.device-plugin"
PLUGIN = next(operand for operand in operands() if operand.state == "state-device-plugin")


def node(name: str, labels: dict[str, str] | None = None, taint: str = "", gpu: bool = True) -> Node:
    """A GPU node with the plugin's label; a label of value "-" is taken away. `taint` is key=value:effect."""
    found = {LABEL: "true", "feature.node.kubernetes.io/pci-10de.present": str(gpu).lower(), **(labels or {})}
    key, _, rest = taint.partition("=")
    value, _, effect = rest.partition(":")
    return msgspec.convert(
        {
            "metadata": {"name": name, "labels": {k: v for k, v in found.items() if v != "-"}},
            "spec": {"taints": [{"key": key, "value": value, "effect": effect}] if taint else []},
        },
        Node,
    )


def daemonset(desired: int = 0, ready: int | None = None, **metadata: Any) -> DaemonSet:
    ready = desired if ready is None else ready
    template = {
        "spec": {"nodeSelector": {LABEL: "true"}, "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}
    }
    status = {
        "desiredNumberScheduled": desired,
        "updatedNumberScheduled": ready,
        "numberReady": ready,
        "numberAvailable": ready,
        "observedGeneration": 1,
    }
    body = {"metadata": {"generation": 1, **metadata}, "spec": {"template": template}, "status": status}
    return msgspec.convert(body, DaemonSet)


def judged(found: DaemonSet | None, *nodes: Node, **troubles: str) -> Condition:
    return judge(PLUGIN, found, nodes, troubles)


def test_it_is_ready_when_it_runs_on_every_gpu_node() -> None:
    found = judged(daemonset(2), node("a"), node("b"), node("c", gpu=False))
    assert (found.type, found.status, found.reason) == ("DevicePluginReady", "True", "Running")
    assert found.message == "runs on 2 of 2 nodes"


def test_desired_0_without_gpu_nodes_is_said() -> None:
    found = judged(daemonset(0), node("a", gpu=False))
    assert (found.status, found.reason) == ("False", "NoGPUNodes")
    assert "wants 0 nodes: no node has an NVIDIA GPU" in found.message


def test_desired_0_because_of_a_taint_names_node_and_taint() -> None:
    found = judged(daemonset(0), node("a", taint="team=ml:NoSchedule"))
    assert (found.status, found.reason) == ("False", "Blocked")
    assert "wants 0 of 1 GPU nodes: a: untolerated taint team=ml:NoSchedule" in found.message


def test_desired_0_because_of_labels_names_them() -> None:
    found = judged(daemonset(0), node("a", {LABEL: "false"}))
    assert (found.status, found.reason) == ("False", "NoNodes")
    assert f"a: {LABEL}=false" in found.message


def test_one_tainted_node_among_others_blocks() -> None:
    tainted = node("b", taint="team=ml:NoExecute")
    found = judged(daemonset(1), node("a"), tainted)
    assert (found.status, found.reason) == ("False", "Blocked")
    assert "kept from 1 of 2 GPU nodes: b: untolerated taint" in found.message


def test_a_tolerated_taint_does_not_matter() -> None:
    tainted = node("a", taint="nvidia.com/gpu=:NoSchedule")
    assert judged(daemonset(1), tainted).status == "True"


def test_a_node_left_out_on_purpose_is_noted_and_does_not_block() -> None:
    found = judged(daemonset(1), node("a"), node("b", {LABEL: "false"}))
    assert found.status == "True"
    assert found.message == f"runs on 1 of 1 nodes; not on b: {LABEL}=false"


def test_a_label_left_at_paused_is_noted() -> None:
    paused = node("b", {LABEL: "paused-for-driver-upgrade"})
    assert (
        "b: nvidia.com/gpu.deploy.device-plugin=paused-for-driver-upgrade"
        in judged(daemonset(1), node("a"), paused).message
    )


def test_the_kill_switch_is_named() -> None:
    found = judged(daemonset(0), node("a", {"nvidia.com/gpu.deploy.operands": "false"}))
    assert "a: nvidia.com/gpu.deploy.operands=false" in found.message


def test_a_node_without_its_label_yet_is_not_ready() -> None:
    found = judged(daemonset(1), node("a"), node("b", {LABEL: "-"}))
    assert (found.status, found.reason) == ("False", "Blocked")
    assert "is not set yet" in found.message


def test_pods_that_are_not_ready_are_named_with_what_they_wait_for() -> None:
    found = judged(daemonset(2, ready=1), node("a"), node("b"), b="toolkit-validation is running")
    assert (found.status, found.reason) == ("False", "Progressing")
    assert found.message.endswith("ready on 1 of 2 nodes (b: toolkit-validation is running)")


def test_a_controller_that_lags_behind_the_labels_is_not_ready() -> None:
    assert "DESIRED is 1, 2 nodes should have it" in judged(daemonset(1), node("a"), node("b")).message


def test_a_version_that_its_controller_has_not_seen_is_not_ready() -> None:
    assert "latest version" in judged(daemonset(1, generation=2), node("a")).message


def test_a_daemonset_that_is_not_there_is_not_ready() -> None:
    assert judged(None, node("a")).reason == "NotCreated"


def test_of_many_nodes_three_are_named() -> None:
    found = judged(daemonset(0), *(node(f"n{i}", taint="t=:NoSchedule") for i in range(10)))
    assert found.message.endswith("; and 7 more")
