"""The GPU nodes have too little of something else.

Enough GPUs are free. CPU, memory, storage, huge pages or the number of pods on the node is what is short.

Why it matters: the pod looks like a GPU problem because it asks for a GPU, and adding GPUs would not help.
How to tell: GPUs have headroom on the node, and the resource that is named has less than the pod asks for.
Fix: ask for less, free the resource, or use a larger node.
"""

from collections.abc import Sequence

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.rule import Failed, Passed, Skipped, rule
from lockgate.diagnosis.seen import MOST_NODES, listed, more_nodes, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.told_refusal import ToldRefusal
from lockgate.kit.counted import agreeing, counted
from lockgate.kit.quantity import binary_size
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod
from lockgate.scheduling.node_fit import Shortage

_BYTES = ("memory", "ephemeral-storage", "hugepages-")


@rule(
    codes=("B06",),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING,),
    gpu=False,
    mutes=("autoscaling/no-node-added",),
)
def other_resource(
    pod: Pod, gate_one: GateOne | Missing, told_refusal: ToldRefusal
) -> Failed | Passed | Skipped | None:
    if isinstance(gate_one, Missing):
        if told_refusal.obstacle is Obstacle.OTHER:
            return _as_told(told_refusal)
        return Skipped(gate_one.reason, gate_one.how)
    if any(row.requested is None for row in gate_one.rows):
        return Skipped("what other pods request is not known", "kubectl get pods -A -o json")
    rows = gate_one.nearest_with(Obstacle.OTHER)
    if rows:
        return _failed(pod, gate_one.resource, rows)
    return Passed("CPU, memory and the other resources that it asks for are there") if gate_one.rows else None


def _failed(pod: Pod, resource: str, rows: tuple[GateRow, ...]) -> Failed:
    short = [(row, s) for row in rows for s in row.shortages if s.resource != resource]
    what = listed(dict.fromkeys(s.resource for _, s in short))
    first_row, first = short[0]
    return Failed(
        about="nodes" if len(rows) > 1 else f"node/{first_row.node}",
        title=f"The GPU nodes have too little {what}",
        summary=f"It asks for {_amount(first, first.requested)} {first.resource}; "
        f"{first_row.node} has {_left(first)}{_besides(rows[1:])}.",
        reach=len(rows),
        evidence=(
            *(_seen(row, s) for row, s in short[:MOST_NODES]),
            *more_nodes(len(short) - MOST_NODES),
            *_gpus(resource, rows[:MOST_NODES]),
            *some(scheduler_word(pod)),
        ),
        remedy=(_remedy(first_row.node, first),),
    )


def _as_told(told: ToldRefusal) -> Failed:
    """By the scheduler's words alone: it names all that lacks on a node, and GPUs are not among it."""
    what = listed(dict.fromkeys(r.resource or "room for pods" for r in told.reasons))
    return Failed(
        about="nodes",
        title=f"The nodes have too little {what}",
        summary=f"The scheduler names {what} as what lacks, on every node that the pod may use, and no GPUs.",
        reach=told.reach,
        evidence=told.evidence,
        remedy=(
            Remedy(
                "Compare what the pod asks for with what is left, under `Allocated resources`",
                "kubectl describe nodes",
                Risk.NONE,
            ),
        ),
    )


def _besides(rows: Sequence[GateRow]) -> str:
    return f", and {listed(row.node for row in rows)} {agreeing(len(rows), 'has', 'have')} too little" if rows else ""


def _left(short: Shortage) -> str:
    left = max(short.headroom, 0)
    return f"{_amount(short, left)} left of {_amount(short, short.allocatable)}"


def _seen(row: GateRow, short: Shortage) -> Evidence:
    used, left = _amount(short, short.used), _amount(short, max(short.headroom, 0))
    note = f"requested {used}, left {left}; the pod asks for {_amount(short, short.requested)}"
    field = f"status.allocatable[{short.resource}]"
    return Evidence(object=f"node/{row.node}", field=field, value=_amount(short, short.allocatable), note=note)


def _gpus(resource: str, rows: tuple[GateRow, ...]) -> tuple[Evidence, ...]:
    free = [row for row in rows if (row.headroom or 0) >= row.asked]
    field = f"status.allocatable[{resource}]"
    return tuple(
        Evidence(
            object=f"node/{row.node}", field=field, value=str(row.allocatable), note=f"headroom {row.headroom}: enough"
        )
        for row in free
    )


def _remedy(node: str, short: Shortage) -> Remedy:
    if short.unresolvable:
        return Remedy(
            f"No GPU node has that much {short.resource}: ask for at most {_amount(short, short.allocatable)}",
            "",
            Risk.LOW,
        )
    command = f"kubectl describe node {node}"
    return Remedy(f"Ask for less {short.resource}, or end pods that hold it on the GPU nodes", command, Risk.NONE)


def _amount(short: Shortage, count: int) -> str:
    """An amount as a person would say it: cores, binary sizes, plain numbers."""
    if short.resource == "cpu":
        return f"{count / 1000:g} cores" if count % 1000 else counted(count // 1000, "core")
    return binary_size(count) if short.resource.startswith(_BYTES) else str(count)
