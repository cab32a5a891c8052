"""Every GPU is held.

The healthy devices of the nodes that the pod may use are requested by other pods, so fewer are left than it asks for.

Why it matters: the scheduler counts requests, not use. An idle pod holds its GPU as firmly as a busy one, and the
event says the same `Insufficient nvidia.com/gpu` as for a dead plugin.
How to tell: requested equals allocatable on the nodes that the pod may use; the holders are listed, also those that
are terminating.
Fix: end or scale down a holder, wait for one, or add a node. Where an old pod of the same Deployment holds them, a
rolling update waits for itself: strategy Recreate, or `maxSurge: 0`, ends the old pod first.
"""

from collections.abc import Sequence

import msgspec

from lockgate.diagnosis.gate_row import SHORT_OF_DEVICES, GateRow, Holder, Obstacle
from lockgate.diagnosis.giving_way import giving_way
from lockgate.diagnosis.rolling_update import end_old_first, old_holder
from lockgate.diagnosis.rule import Failed, Passed, Skipped, rule
from lockgate.diagnosis.seen import asked, gate_rows, listed, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.hardware import Hardware
from lockgate.kit.counted import counted
from lockgate.model.facts import Missing, Pods, Snapshot
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod


@rule(
    codes=("C09",),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING,),
    mutes=("autoscaling/no-node-added", "queueing/no-device-fits"),
)
def all_held(
    pod: Pod, gate_one: GateOne, pods: Pods | Missing, snapshot: Snapshot, hardware: Hardware
) -> Failed | Passed | Skipped | None:
    if any(row.requested is None for row in gate_one.rows):
        return Skipped("what other pods hold is not known", "kubectl get pods -A -o json")
    free = [row for row in gate_one.rows if row.only_devices_short() and (row.headroom or 0) > 0]
    # Where GPUs of the hardware are lacking, nobody holds them: devices/fewer-than-hardware.
    short = [row for row in gate_one.nearest_with(*SHORT_OF_DEVICES) if not hardware.explains(row)]
    left = sum(row.headroom or 0 for row in free)
    if not short or left >= gate_one.asked:
        return Passed(_left(gate_one)) if left else None
    if giving_way(pod, gate_one, pods, snapshot.taken_at):
        return Passed(f"preemption makes room on {pod.status.nominated_node_name}")
    return _updating(pod, _failed(pod, gate_one, left), gate_one, pods)


def _left(gate: GateOne) -> str:
    rows = [f"{row.node} {row.headroom}" for row in gate.rows if row.headroom]
    return f"{gate.resource} is left: {listed(rows)}"


def _failed(pod: Pod, gate: GateOne, left: int) -> Failed:
    rows = gate.nearest_with(Obstacle.HELD, Obstacle.TOO_FEW)
    healthy, requested = sum(row.allocatable for row in rows), sum(row.requested or 0 for row in rows)
    holders = [h for row in rows for h in row.holders]
    many = f"{healthy} {gate.resource} on {counted(len(rows), 'node')}"
    by = listed(h.pod for h in holders) if holders else _unnamed(rows)
    held = (
        f"{counted(requested, 'is', 'are')} requested by {by}, {max(healthy - requested, 0)} left"
        if requested
        else "none is requested"
    )
    return Failed(
        about=f"node/{rows[0].node}" if len(rows) == 1 else "nodes",
        title=_title(gate, left, healthy, requested),
        summary=f"It asks for {gate.asked}; of {many}, {held}.",
        reach=len(rows),
        evidence=(
            asked(pod, gate.resource, gate.asked),
            *gate_rows(gate, rows),
            *some(scheduler_word(pod)),
        ),
        remedy=_remedies(gate, holders, [row.node for row in rows if row.requested]),
    )


def _updating(pod: Pod, failed: Failed, gate: GateOne, pods: Pods | Missing) -> Failed:
    """Where a rolling update stands in its own way, that is said, and first how it goes on."""
    holders = [h.pod for row in gate.nearest_with(Obstacle.HELD, Obstacle.TOO_FEW) for h in row.holders]
    old = old_holder(pod, holders, pods)
    if not old:
        return failed
    said = f"{old} is an old pod of its own Deployment, which a rolling update ends only once the new one is ready."
    return msgspec.structs.replace(
        failed, summary=f"{failed.summary} {said}", remedy=(end_old_first(pod), *failed.remedy)
    )


def _remedies(gate: GateOne, holders: Sequence[Holder], held: Sequence[str]) -> tuple[Remedy, ...]:
    """`held` are the nodes where pods hold some, be they shown or not."""
    if holders:
        most = max(holders, key=lambda h: h.count)
        return _make_room(f"kubectl describe pod -n {most.pod.replace('/', ' ')}")
    if held:
        return _make_room(_who_holds(gate.resource, held))
    return _ask_less(gate)


def _who_holds(resource: str, nodes: Sequence[str]) -> str:
    """The command that shows who asks for how many; of several nodes all of them, since none is known to be the one."""
    key = resource.replace(".", "\\.")
    columns = (
        f"N:.metadata.namespace,POD:.metadata.name,NODE:.spec.nodeName,GPUS:.spec.containers[*].resources.limits.{key}"
    )
    only = f" --field-selector spec.nodeName={nodes[0]}" if len(nodes) == 1 else ""
    return f"kubectl get pods -A{only} -o custom-columns='{columns}'"


def _unnamed(rows: Sequence[GateRow]) -> str:
    """The holders where a description gives their sum alone: some of the pods that it names."""
    named = [pod for row in rows for pod in row.named]
    return f"pods that are not shown ({listed(named)} run there)" if named else "pods that are not shown"


def _make_room(command: str) -> tuple[Remedy, ...]:
    return (
        Remedy("See who holds GPUs, and end or scale down what is not needed", command, Risk.NONE),
        Remedy("Or add a GPU node, or ask for fewer; the pod is placed by itself once enough are left", "", Risk.LOW),
    )


def _ask_less(gate: GateOne) -> tuple[Remedy, ...]:
    most = max((row.allocatable for row in gate.rows), default=0)
    return (Remedy(f"Ask for at most {most} in one pod, or add a node with more", "", Risk.LOW),)


def _title(gate: GateOne, left: int, healthy: int, requested: int) -> str:
    if max((row.allocatable for row in gate.rows), default=0) < gate.asked and not requested:
        return "No node has that many GPUs"
    return "Too few GPUs are left" if left or requested < healthy else "Every GPU is held"
