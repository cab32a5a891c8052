"""What a cluster costs grows with its size and no faster: no rule and no view goes through all for each.

Costs are lines of Python, each turn of a comprehension counted, which are the same wherever the test runs.
"""

import sys
from collections import Counter
from types import CodeType, FrameType
from typing import Any

import pytest

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import CLUSTER, Target
from lockgate.kit import by_identity
from lockgate.model.facts import Snapshot
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = tuple(all_rules())
SIZES = (20, 40, 80)
GPU = "nvidia.com/gpu"
HELD = {"resources": {"requests": {GPU: "2"}, "limits": {GPU: "2"}}}
XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus."


def _nodes(size: int) -> list[str]:
    return [f"gpu-{number}" for number in range(1, size + 1)]


def _well(size: int) -> dict[str, Any]:
    """Nodes with an operator, agents that publish what they see, pods that hold all, and one that waits."""
    nodes = _nodes(size)
    state = {"status": {"devices": {"devices": [{"index": "0", "healthy": True}, {"index": "1", "healthy": True}]}}}
    return {
        "operator": {"nodes": nodes},
        "nodes": {node: {} for node in nodes},
        "node_states": dict.fromkeys(nodes, state),
        "pods": {"ml/waits": {}}
        | {f"ml/{n}": {"like": "running", "spec": {"nodeName": n, "containers": [HELD]}} for n in nodes},
    }


def _sick(size: int) -> dict[str, Any]:
    """Each has lost its devices, its kernel says so, it is reported, and a pod waits to be put there."""
    nodes, none = _nodes(size), {"status": {"allocatable": {GPU: "0"}}}
    state = {"status": {"devices": {"devices": [{"index": "0", "healthy": False}]}}}
    return {
        "node_states": dict.fromkeys(nodes, state),
        "operator": {"nodes": nodes},
        "nodes": dict.fromkeys(nodes, none),
        "files": {node: {"dmesg": XID} for node in nodes},
        "said": [{"about": f"node/{node}", "reason": "GPUFault", "message": XID} for node in nodes],
        "pods": {f"ml/waits-{n}": {} for n in nodes},
    }


def _leaving(size: int) -> dict[str, Any]:
    """Pods that do not go, on nodes that are not ready."""
    nodes = _nodes(size)
    going = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/keeps"]}
    return {
        "nodes": {n: _NOT_READY if n in nodes[1::2] else {} for n in nodes},
        "pods": {f"ml/{n}": {"like": "running", "metadata": going, "spec": {"nodeName": n}} for n in nodes},
        "taken_at": "2026-01-02T00:00:00Z",
    }


def _stuck(size: int) -> dict[str, Any]:
    """The toolkit crashes on each, pods wait there for its handler, and the kubelet says so of each."""
    nodes = _nodes(size)
    crash = {"ready": False, "restartCount": 9, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    toolkit = "nvidia-container-toolkit"
    said = 'Failed to create pod sandbox: no runtime for "nvidia" is configured'
    return {
        "operator": {"nodes": nodes, "stuck": dict.fromkeys(nodes, "container-toolkit")},
        "nodes": dict.fromkeys(nodes, _BARE),
        "pods": {
            f"gpu-operator/{toolkit}-daemonset-{node}": {
                "status": {"containerStatuses": [{"name": f"{toolkit}-ctr", **crash}]}
            }
            for node in nodes
        }
        | {f"ml/{n}": {"like": "creating", "spec": {"nodeName": n, "runtimeClassName": "nvidia"}} for n in nodes},
        "said": [{"about": f"pod/ml/{n}", "reason": "FailedCreatePodSandBox", "message": said} for n in nodes],
    }


def _starting(size: int) -> dict[str, Any]:
    """Each was rebooted a moment ago, and its plugin is made anew."""
    nodes = _nodes(size)
    made = {"phase": "Pending", "conditions": [], "initContainerStatuses": [], "containerStatuses": []}
    pod = {"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}, "status": made}
    return {
        "operator": {"nodes": nodes},
        "nodes": dict.fromkeys(nodes, _BARE),
        "pods": {f"gpu-operator/nvidia-device-plugin-daemonset-{node}": pod for node in nodes},
        "said": [{"about": f"node/{node}", "reason": "Rebooted", "message": "rebooted"} for node in nodes],
        "cluster_policies": {"cluster-policy": {"status": {"state": "notReady"}}},
        "taken_at": "2026-01-01T00:01:00Z",
    }


_BARE = {"status": {"capacity": {GPU: None}, "allocatable": {GPU: None}}}
_NOT_READY = {"status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]}}


@pytest.mark.parametrize("estate", [_well, _sick, _leaving, _stuck, _starting])
def test_no_function_goes_through_all_nodes_for_each_node(estate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # What is remembered is forgotten when it is too much, in the middle of whatever goes on: here never.
    monkeypatch.setattr(by_identity, "_MOST", sys.maxsize)
    once, twice, four_times = (_costs(snapshot(estate(size))) for size in SIZES)
    # Of a + b*n + c*n*n what is left is c, times 6 n*n.
    growth = {f: (four_times[f] - 3 * twice[f] + 2 * once[f]) / (6 * SIZES[0] ** 2) for f in four_times}
    assert {f"{f.co_filename} {f.co_qualname}": per_pair for f, per_pair in growth.items() if per_pair > 0.2} == {}


def _costs(facts: Snapshot) -> Counter[CodeType]:
    """The lines that each function takes in a diagnosis, once what is remembered by value is known."""
    counted: Counter[CodeType] = Counter()

    def step(frame: FrameType, event: str, _: Any) -> Any:
        if event in ("call", "line"):
            counted[frame.f_code] += 1
        return step

    diagnose(facts, Target(CLUSTER, ""), RULES)
    before = sys.gettrace()
    sys.settrace(step)
    try:
        diagnose(facts, Target(CLUSTER, ""), RULES)
    finally:
        sys.settrace(before)
    return counted
