"""The nodes offer their GPUs under another name.

MIG with the mixed strategy and renamed time-slicing change the resource's name; the pod still asks for the old one.

Why it matters: the GPUs are there and free, and the scheduler says `Insufficient` as for any name it does not know.
A name that the plugin's configuration should have made (`renameByDefault`) is not there when the key stands anywhere
but below `sharing.timeSlicing`: elsewhere it is ignored without a word.
How to tell: the node's allocatable has another GPU resource than the one that the pod asks for.
Fix: ask for the name that the nodes advertise, or correct the plugin's configuration.
"""

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.rule import Failed, on_each, rule
from lockgate.diagnosis.seen import asked, gate_row, listed
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.model import names
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod


@rule(
    codes=("C11", "C13"),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING,),
    mutes=("autoscaling/node-not-initialized",),
)
def wrong_name(pod: Pod, gate_one: GateOne) -> Failed | None:
    rows = [r for r in gate_one.nearest_with(Obstacle.NO_RESOURCE) if r.others]
    return on_each([_failed(pod, gate_one, row) for row in rows]) if rows else None


def _failed(pod: Pod, gate: GateOne, row: GateRow) -> Failed:
    offered = sorted(row.others)
    return Failed(
        about=f"node/{row.node}",
        codes=("C13",) if names.GPU_SHARED in (gate.resource, *map(_name, offered)) else ("C11",),
        summary=f"{row.node}: advertised is {listed(offered)}; the pod asks for {gate.resource}.",
        nodes=(row.node,),
        evidence=(
            asked(pod, gate.resource, gate.asked),
            gate_row(gate, row),
            Evidence(object=f"node/{row.node}", field="status.allocatable", value=listed(offered)),
        ),
        remedy=(Remedy(f"Ask for {_name(offered[0])} instead of {gate.resource}", "", Risk.LOW),),
    )


def _name(offer: str) -> str:
    return offer.partition(":")[0]
