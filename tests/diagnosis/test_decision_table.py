"""The decision table for `Insufficient nvidia.com/gpu`: one text of the scheduler, a row a cause, by what nodes say.

Each row is what a node says (capacity, allocatable, requested by others) and what else is known; the answer is the
cause with its code, and the arithmetic of the node in the evidence.
"""

from typing import Any

import pytest

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.model.finding import Diagnosis
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = all_rules()
GPU = "nvidia.com/gpu"
TEXT = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption."
PLUGIN = "gpu-operator/nvidia-device-plugin-daemonset-a"
NO_LABELS = {"metadata": {"labels": None}}


def offers(capacity: str | None, allocatable: str | None, **other: str) -> dict[str, Any]:
    """A node's numbers; None takes the resource's name away."""
    return {"status": {"capacity": {GPU: capacity, **other}, "allocatable": {GPU: allocatable, **other}}}


def plugin(*, ready: bool, waiting: str = "", init: bool = False) -> dict[str, Any]:
    """The device plugin's pod on the node."""
    state = [{"name": "c", "state": {"waiting": {"reason": waiting}}}] if waiting else []
    statuses = {"initContainerStatuses" if init else "containerStatuses": state}
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    return {"like": "plugin", "spec": {"nodeName": "gpu-a"}, "status": {"conditions": conditions, **statuses}}


def holder(count: int, node: str = "gpu-a") -> dict[str, Any]:
    """Another pod that holds devices."""
    container = {"name": "main", "resources": {"requests": {GPU: str(count)}}}
    return {"like": "running", "spec": {"nodeName": node, "containers": [container]}}


def asks(count: int = 1, **spec: Any) -> dict[str, Any]:
    """The pod that waits, with the scheduler's text."""
    container = {"name": "main", "resources": {"limits": {GPU: str(count)}, "requests": {GPU: str(count)}}}
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": TEXT}
    return {"spec": {"containers": [container], **spec}, "status": {"conditions": [said]}}


def answer(nodes: dict[str, Any], pods: dict[str, Any], **facts: Any) -> Diagnosis:
    described = {"nodes": nodes, "pods": {"default/x": asks()} | pods} | facts
    return diagnose(snapshot(described), parse_target("pod/x", "default"), RULES)


ROWS: dict[str, tuple[Diagnosis, str, str]] = {
    "absent, no PCI label": (
        answer({"gpu-a": NO_LABELS | offers(None, None)}, {}),
        "discovery/no-gpu-node",
        "G01",
    ),
    "absent, the plugin's DaemonSet does not target the node": (
        answer(
            {"gpu-a": {"metadata": {"labels": {"nvidia.com/gpu.deploy.device-plugin": None}}} | offers(None, None)}, {}
        ),
        "operands/plugin-not-targeted",
        "G05",
    ),
    "absent, the plugin waits in Init": (
        answer({"gpu-a": offers(None, None)}, {PLUGIN: plugin(ready=False, waiting="PodInitializing", init=True)}),
        "operands/plugin-gone",
        "I01",
    ),
    "absent, the plugin crashes": (
        answer({"gpu-a": offers(None, None)}, {PLUGIN: plugin(ready=False, waiting="CrashLoopBackOff")}),
        "operands/plugin-gone",
        "C03",
    ),
    "absent, the plugin runs": (
        answer({"gpu-a": offers(None, None)}, {PLUGIN: plugin(ready=True)}),
        "operands/plugin-idle",
        "C02",
    ),
    "absent, MIG devices under their own names": (
        answer({"gpu-a": offers(None, None, **{"nvidia.com/mig-1g.5gb": "7"})}, {PLUGIN: plugin(ready=True)}),
        "scheduling/wrong-name",
        "C11",
    ),
    "absent, shared GPUs under another name": (
        answer({"gpu-a": offers(None, None, **{"nvidia.com/gpu.shared": "8"})}, {PLUGIN: plugin(ready=True)}),
        "scheduling/wrong-name",
        "C13",
    ),
    "0 of 0, a plugin was here before": (
        answer({"gpu-a": offers("0", "0")}, {PLUGIN: plugin(ready=False, waiting="CrashLoopBackOff")}),
        "operands/plugin-gone",
        "C04",
    ),
    "0 of n, the plugin's pod is gone": (
        answer({"gpu-a": offers("2", "0")}, {}),
        "operands/plugin-gone",
        "C04",
    ),
    "0 of n, the plugin serves and calls every device unhealthy": (
        answer(
            {"gpu-a": offers("2", "0")},
            {PLUGIN: plugin(ready=True)},
            node_states={
                "gpu-a": {"status": {"devices": {"registered": True, "devices": [{"uuid": "GPU-1", "healthy": False}]}}}
            },
        ),
        "devices/unhealthy",
        "C07",
    ),
    "some of n are healthy": (
        answer({"gpu-a": offers("2", "1")}, {PLUGIN: plugin(ready=True), "default/x": asks(2)}),
        "devices/unhealthy",
        "C06",
    ),
    "n of n, all requested": (
        answer({"gpu-a": {}}, {PLUGIN: plugin(ready=True), "ml/train": holder(2)}),
        "scheduling/all-held",
        "C09",
    ),
    "n of n, enough in all and too few on each": (
        answer(
            {"gpu-a": {}, "gpu-b": {}},
            {PLUGIN: plugin(ready=True), "ml/a": holder(1), "ml/b": holder(1, "gpu-b"), "default/x": asks(2)},
        ),
        "scheduling/fragmented",
        "C10",
    ),
    "n of n, and something else is short": (
        answer(
            {"gpu-a": {"status": {"allocatable": {"cpu": "1"}}}},
            {
                PLUGIN: plugin(ready=True),
                "default/x": asks(
                    containers=[
                        {"name": "main", "resources": {"requests": {"cpu": "4", GPU: "1"}, "limits": {GPU: "1"}}}
                    ]
                ),
            },
        ),
        "scheduling/other-resource",
        "B06",
    ),
    "free, and a gate holds it": (
        answer({"gpu-a": {}}, {"default/x": asks(schedulingGates=[{"name": "example.com/wait"}])}),
        "scheduling/gated",
        "A14",
    ),
    "free, and another scheduler has not looked": (
        answer({"gpu-a": {}}, {"default/x": {"spec": {"schedulerName": "volcano"}}}),
        "scheduling/scheduler-absent",
        "B08",
    ),
    "no GPU node yet, and Kueue has not admitted it": (
        answer(
            {"cpu-1": NO_LABELS | offers(None, None)},
            {"default/x": asks(schedulingGates=[{"name": "kueue.x-k8s.io/admission"}])},
        ),
        "queueing/kueue-waiting",
        "A13",
    ),
    "free, and Kueue has not admitted it": (
        answer({"gpu-a": {}}, {"default/x": asks(schedulingGates=[{"name": "kueue.x-k8s.io/admission"}])}),
        "queueing/kueue-waiting",
        "A13",
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_row_has_its_cause(row: str) -> None:
    diagnosis, cause, code = ROWS[row]
    first = diagnosis.findings[0]
    assert (first.id, code in first.codes) == (cause, True), [f.id for f in diagnosis.findings]


def test_fewer_than_the_hardware_is_told_beside_what_holds_the_rest() -> None:
    labels = {"metadata": {"labels": {"nvidia.com/gpu.count": "3"}}}
    diagnosis = answer({"gpu-a": labels}, {PLUGIN: plugin(ready=True), "ml/train": holder(2)})
    assert [(f.id, f.codes) for f in diagnosis.findings] == [
        ("scheduling/all-held", ("C09",)),
        ("devices/fewer-than-hardware", ("C08",)),
    ]


def test_free_and_nothing_in_the_way_is_an_old_text() -> None:
    diagnosis = answer({"gpu-a": {}}, {PLUGIN: plugin(ready=True)})
    assert [f.id for f in diagnosis.findings] == ["scheduling/unexplained"]
    assert "gpu-a would take it by the numbers of now" in diagnosis.findings[0].summary


def test_the_arithmetic_and_the_holders_of_each_node_are_shown() -> None:
    diagnosis = answer(
        {"gpu-a": {}, "gpu-b": {}}, {"ml/a": holder(2), "ml/b": holder(1, "gpu-b"), "ml/c": holder(1, "gpu-b")}
    )
    notes = [e.note for e in diagnosis.findings[0].evidence if e.field == f"status.allocatable[{GPU}]"]
    assert notes == [
        "capacity 2, allocatable 2, requested 2, headroom 0; held by ml/a (2)",
        "capacity 2, allocatable 2, requested 2, headroom 0; held by ml/b (1), ml/c (1)",
    ]
