"""The nodes offer their GPUs under another name.

MIG with the mixed strategy and renamed time-slicing change the resource's name; the pod still asks for the old one.

Why it matters: the GPUs are there and free, and the scheduler says `Insufficient` as for any name it does not know.
A name that the plugin's configuration should have made (`renameByDefault`) is not there when the key stands anywhere
but below `sharing.timeSlicing`: elsewhere it is ignored without a word.
How to tell: the node's allocatable has another GPU resource than the one that the pod asks for.
Fix: ask for the name that the nodes advertise, or correct the plugin's configuration.
"""

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import MOST_NODES, asked, gate_rows, listed
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
    if not rows:
        return None
    offered = sorted({name for row in rows for name in row.others})
    return Failed(
        about="nodes" if len(rows) > 1 else f"node/{rows[0].node}",
        codes=("C13",) if names.GPU_SHARED in (gate_one.resource, *map(_name, offered)) else ("C11",),
        summary=f"It asks for {gate_one.resource}; {rows[0].node} advertises {listed(rows[0].others)}.",
        reach=len(rows),
        evidence=(
            asked(pod, gate_one.resource, gate_one.asked),
            *gate_rows(gate_one, rows),
            *map(_seen, rows[:MOST_NODES]),
        ),
        remedy=(Remedy(f"Ask for {_name(offered[0])} instead of {gate_one.resource}", "", Risk.LOW),),
    )


def _name(offer: str) -> str:
    return offer.partition(":")[0]


def _seen(row: GateRow) -> Evidence:
    return Evidence(object=f"node/{row.node}", field="status.allocatable", value=listed(row.others))
