"""The GPU nodes are cordoned.

Somebody or something set `spec.unschedulable`: a person, a driver upgrade, an autoscaler, a node health tool.

Why it matters: a forgotten cordon keeps healthy GPUs empty. During a driver upgrade it is meant and will end by
itself.
How to tell: `kubectl get nodes` says SchedulingDisabled; a driver upgrade leaves its own label beside it.
Fix: uncordon the node, or let the upgrade finish; `upgrade-failed` needs a look at the driver pod first.
"""

import msgspec

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.rule import Failed, Passed, Skipped, rule
from lockgate.diagnosis.seen import MOST_NODES, listed, more_nodes, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.told_refusal import ToldRefusal
from lockgate.model import names
from lockgate.model.facts import Missing, Nodes, Pods
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod


@rule(codes=("B03",), severity=Severity.BLOCKER, stages=(Stage.SCHEDULING, Stage.NODE))
def cordoned(
    pod: Pod, gate_one: GateOne | Missing, nodes: Nodes | Missing, stage: Stage, demand: Pods, told_refusal: ToldRefusal
) -> Failed | Passed | Skipped | None:
    if isinstance(nodes, Missing):
        if told_refusal.obstacle is Obstacle.CORDON:
            return _as_told(told_refusal)
        return Skipped(nodes.reason, nodes.how)
    if isinstance(gate_one, Missing):
        return Skipped(gate_one.reason, gate_one.how)
    rows = gate_one.nearest_with(Obstacle.CORDON)
    if rows:
        failed = _failed(pod, rows, {node.name: node for node in nodes})
        # Seen from the node it may be meant, and as long as nobody waits it costs nothing.
        meant = Severity.WARNING if demand else Severity.INFO
        return msgspec.structs.replace(failed, severity=meant) if stage is Stage.NODE else failed
    return Passed("no GPU node that could take it is cordoned") if gate_one.rows else None


def _failed(pod: Pod, rows: tuple[GateRow, ...], nodes: dict[str, Node]) -> Failed:
    upgrades = {row.node: nodes[row.node].metadata.labels.get(names.UPGRADE_STATE, "") for row in rows}
    moving = sorted({state for state in upgrades.values() if state and state != "upgrade-done"})
    why = f" Driver upgrade: {', '.join(moving)}." if moving else ""
    return Failed(
        about=f"node/{rows[0].node}" if len(rows) == 1 else "nodes",
        summary=f"{listed(row.node for row in rows)}: no new pods are placed there.{why}",
        reach=len(rows),
        evidence=(
            *(e for row in rows[:MOST_NODES] for e in _seen(row, upgrades[row.node])),
            *more_nodes(len(rows) - MOST_NODES),
            *some(scheduler_word(pod)),
        ),
        remedy=tuple(_remedy(row.node, upgrades[row.node]) for row in rows[:3]),
    )


def _as_told(told: ToldRefusal) -> Failed:
    """By the scheduler's words alone."""
    look = Remedy(
        "See which nodes are cordoned, and by whom", "kubectl get nodes; kubectl describe node NODE", Risk.NONE
    )
    return Failed(
        about="nodes",
        summary="The scheduler finds every node that the pod may use cordoned: no new pods are placed there.",
        reach=told.reach,
        evidence=told.evidence,
        remedy=(look, Remedy("If nobody is working on a node, let it take pods again", "", Risk.MEDIUM)),
    )


def _seen(row: GateRow, upgrade: str) -> tuple[Evidence, ...]:
    label = Evidence(object=f"node/{row.node}", field=f"metadata.labels[{names.UPGRADE_STATE}]", value=upgrade)
    cordon = Evidence(object=f"node/{row.node}", field="spec.unschedulable", value="true", note=row.arithmetic())
    return (cordon, label) if upgrade else (cordon,)


def _remedy(node: str, upgrade: str) -> Remedy:
    if upgrade and upgrade != "upgrade-done":
        return Remedy(
            f"The driver upgrade of {node} is at {upgrade}: see its driver pod",
            f"kubectl get pods -A -l app.kubernetes.io/component=nvidia-driver --field-selector spec.nodeName={node}",
            Risk.NONE,
        )
    return Remedy(f"If nobody is working on {node}, let it take pods again", f"kubectl uncordon {node}", Risk.MEDIUM)
