"""The kubelet refused the pod when it arrived on its node.

The scheduler (or a `nodeName` in the spec) chose the node, and the kubelet found that it cannot give what is asked.

Why it matters: such a pod stays Failed for good; a controller makes a new one, often into the same trap, again and
again.
Fix: mend what the text names, then delete the pod; never pin GPU pods with `spec.nodeName`, which passes the
scheduler by.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import gate_rows, holders, pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod

# Texts of pkg/kubelet/cm/devicemanager/manager.go and lifecycle/predicate.go: pattern, codes, what it means.
_TEXTS = (
    (
        re.compile(
            r"requested number of devices unavailable for (?P<r>\S+)\. Requested: (?P<a>\d+), Available: (?P<v>\d+)"
        ),
        ("D01",),
        "{node} had {v} of {r} to hand out, {a} were asked for",
    ),
    (
        re.compile(r"cannot allocate unregistered device (?P<r>[^\s,]+)"),
        ("D03",),
        "no device plugin for {r} is registered with the kubelet of {node}",
    ),
    (
        re.compile(r"no healthy devices present; cannot allocate unhealthy devices (?P<r>[^\s,]+)"),
        ("D02",),
        "every device of {r} on {node} was unhealthy, or its plugin had not registered yet",
    ),
    (
        re.compile(
            r"previously allocated devices are no longer healthy; cannot allocate unhealthy devices (?P<r>[^\s,]+)"
        ),
        ("D04",),
        "the devices of {r} that it had on {node} are no longer healthy",
    ),
    (
        re.compile(r"maximum request size for shared resources is 1; found (?P<a>\d+)"),
        ("D06",),
        "the GPUs of {node} are shared and give one slot a pod (failRequestsGreaterThanOne), {a} were asked for",
    ),
    (
        re.compile(r"unknown device: (?P<d>\S+)"),
        ("D07",),
        "the kubelet of {node} holds a device that its plugin does not know: {d}",
    ),
    (
        re.compile(r"GetPreferredAllocation rpc failed"),
        ("D05",),
        "the device plugin of {node} could not choose devices; one lost GPU is enough for that",
    ),
    (
        re.compile(r"Allocate failed due to rpc error"),
        ("D10",),
        "the device plugin of {node} failed while it handed out devices",
    ),
    (
        re.compile(r"Resources cannot be allocated with Topology locality"),
        ("D09",),
        "no one socket of {node} has enough free GPUs",
    ),
    (
        re.compile(
            r"Node didn't have enough resource: (?P<r>[^\s,]+), requested: (?P<a>\d+), "
            r"used: (?P<u>\d+), capacity: (?P<c>\d+)"
        ),
        ("D08",),
        "{node} has {c} of {r}, {u} in use; {a} were asked for",
    ),
)


@rule(
    codes=("D01", "D02", "D03", "D04", "D05", "D06", "D07", "D08", "D09", "D10"),
    severity=Severity.BLOCKER,
    stages=(Stage.ADMISSION,),
    asks_gpu=None,
)
def refused(pod: Pod, gate_one: GateOne | Missing) -> Failed:
    said = pod.status.message
    found = next(((m, codes, text) for pattern, codes, text in _TEXTS if (m := pattern.search(said))), None)
    node = pod.spec.node_name or "the node"
    codes = found[1] if found else ()
    meaning = found[2].format(node=node, **found[0].groupdict()) if found else f"its words: {said or pod.status.reason}"
    gate = None if isinstance(gate_one, Missing) or not gate_one.asked else gate_one
    return Failed(
        about=pod_ref(pod),
        codes=codes,
        summary=f"{pod.status.reason}: {meaning}.{_now(gate)}",
        evidence=(
            Evidence(object=pod_ref(pod), field="status.message", verbatim=said, note=f"reason {pod.status.reason}"),
            *(gate_rows(gate, gate.rows) if gate else ()),
            *_pinned(pod),
        ),
        remedy=(
            Remedy(
                "A refused pod never runs; delete it once the cause is mended",
                f"kubectl delete pod -n {pod.namespace} {pod.name}",
                Risk.LOW,
            ),
        ),
    )


def _now(gate: GateOne | None) -> str:
    row = gate.rows[0] if gate and gate.rows else None
    if row is None or not row.known:
        return ""
    return f" Now {row.node} has {row.arithmetic()}{holders(row)}."


def _pinned(pod: Pod) -> tuple[Evidence, ...]:
    """A pod that no scheduler placed has no PodScheduled condition."""
    if any(c.type == "PodScheduled" for c in pod.status.conditions):
        return ()
    note = "set in the spec: the scheduler was passed by, and nothing counted before the kubelet"
    return (Evidence(object=pod_ref(pod), field="spec.nodeName", value=pod.spec.node_name, note=note),)
