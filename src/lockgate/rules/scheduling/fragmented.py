"""GPUs are free, but no one node has enough of them.

A pod runs on one node. The free devices together would do, on each node alone they are too few.

Why it matters: dashboards show free GPUs while the pod waits, and the scheduler will not move other pods to make
room.
How to tell: the headrooms of the nodes add up to what is asked for, and none alone does.
Fix: move or end a pod so that one node has enough, ask for fewer, or pack GPU pods (scoring strategy MostAllocated).
"""

from lockgate.diagnosis.gate_row import SHORT_OF_DEVICES, GateRow
from lockgate.diagnosis.rule import Failed, Passed, Skipped, rule
from lockgate.diagnosis.seen import asked, gate_rows, listed, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.hardware import Hardware
from lockgate.kit.counted import counted
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod


@rule(
    codes=("C10",),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING,),
    mutes=("autoscaling/no-node-added", "queueing/no-device-fits"),
)
def fragmented(pod: Pod, gate_one: GateOne, hardware: Hardware) -> Failed | Passed | Skipped | None:
    if any(row.requested is None for row in gate_one.rows):
        return Skipped("what other pods hold is not known", "kubectl get pods -A -o json")
    if not gate_one.nearest_with(*SHORT_OF_DEVICES):
        return None
    # A node that would have room with all GPUs of its hardware lacks those: devices/fewer-than-hardware.
    rows = [row for row in gate_one.rows if row.only_devices_short() and not hardware.explains(row)]
    left = sum(row.headroom or 0 for row in rows)
    if left < gate_one.asked:
        if any(map(hardware.explains, gate_one.rows)):
            return None
        return Passed(f"all free {gate_one.resource} together are {left}, fewer than the {gate_one.asked} asked for")
    return _failed(pod, gate_one, rows, left)


def _failed(pod: Pod, gate: GateOne, rows: list[GateRow], left: int) -> Failed:
    largest = max(rows, key=lambda row: row.largest)
    never = largest.largest < gate.asked
    spread = listed(f"{row.headroom} on {row.node}" for row in rows if row.headroom)
    limit = f" No node has {gate.asked} at all: {largest.node} has the most, {largest.largest}." if never else ""
    return Failed(
        about="nodes",
        summary=f"It asks for {gate.asked} on one node; {counted(left, 'is', 'are')} free: {spread}.{limit}",
        reach=len(rows),
        evidence=(asked(pod, gate.resource, gate.asked), *gate_rows(gate, rows), *some(scheduler_word(pod))),
        remedy=_never_fits(largest) if never else _make_room(gate, rows),
    )


def _never_fits(largest: GateRow) -> tuple[Remedy, ...]:
    return (Remedy(f"Ask for at most {largest.largest} in one pod, and use several pods for more", "", Risk.LOW),)


def _make_room(gate: GateOne, rows: list[GateRow]) -> tuple[Remedy, ...]:
    able = [row for row in rows if row.largest >= gate.asked]
    row = min(able, key=lambda r: gate.asked - (r.headroom or 0))
    lacking = gate.asked - (row.headroom or 0)
    holders = listed(h.pod for h in sorted(row.holders, key=lambda h: h.count))
    return (
        Remedy(f"Free {lacking} more on {row.node}: end or move one of {holders}", "", Risk.MEDIUM),
        Remedy(f"Or ask for at most {max(r.headroom or 0 for r in rows)}", "", Risk.LOW),
    )
