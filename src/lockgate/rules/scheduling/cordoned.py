"""The GPU nodes are cordoned.

Somebody or something set `spec.unschedulable`: a person, a driver upgrade, an autoscaler, a node health tool.

Why it matters: a forgotten cordon keeps healthy GPUs empty. During a driver upgrade it is meant and will end by
itself.
How to tell: `kubectl get nodes` says SchedulingDisabled; a driver upgrade leaves its own label beside it.
Fix: uncordon the node, or let the upgrade finish; `upgrade-failed` needs a look at the driver pod first. What a health
tool cordoned is mended, and the tool takes the cordon back.
"""

import re
from typing import Final

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.rule import Failed, Passed, Skipped, on_each, rule
from lockgate.diagnosis.seen import listed, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.places import Places
from lockgate.diagnosis.views.told_refusal import ToldRefusal
from lockgate.model import names
from lockgate.model.facts import Missing, Pods
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod

# NVSentinel's fault quarantine says so in labels: `k8saas.nvidia.com/cordon-by`, `dgxc.nvidia.com/cordon-reason`.
_SAID: Final = re.compile(r"/cordon-(?:by|reason)$")


@rule(codes=("B03",), severity=Severity.BLOCKER, stages=(Stage.SCHEDULING, Stage.NODE))
def cordoned(
    pod: Pod,
    gate_one: GateOne | Missing,
    places: Places | Missing,
    stage: Stage,
    demand: Pods,
    told_refusal: ToldRefusal,
) -> Failed | Passed | Skipped | None:
    if isinstance(places, Missing):
        if told_refusal.obstacle is Obstacle.CORDON:
            return _as_told(told_refusal)
        return Skipped(places.reason, places.how)
    if isinstance(gate_one, Missing):
        return Skipped(gate_one.reason, gate_one.how)
    rows = gate_one.nearest_with(Obstacle.CORDON)
    if rows:
        # Seen from the node it may be meant, and as long as nobody waits it costs nothing.
        meant = (Severity.WARNING if demand else Severity.INFO) if stage is Stage.NODE else None
        return on_each([_failed(pod, row, places.nodes[row.node], meant) for row in rows])
    return Passed("no GPU node that could take it is cordoned") if gate_one.rows else None


def _failed(pod: Pod, row: GateRow, node: Node, severity: Severity | None) -> Failed:
    upgrade = node.metadata.labels.get(names.UPGRADE_STATE, "").replace("upgrade-done", "")
    said = {key: value for key, value in node.metadata.labels.items() if _SAID.search(key)}
    by = f" Its labels tell by whom and why: {listed(said.values())}." if said else ""
    why = f" Driver upgrade: {upgrade}." if upgrade else ""
    return Failed(
        about=f"node/{row.node}",
        severity=severity,
        summary=f"{row.node}: no new pods are placed there.{why}{by}",
        nodes=(row.node,),
        evidence=(
            Evidence(object=f"node/{row.node}", field="spec.unschedulable", value="true", note=row.arithmetic()),
            *(_label(node, key) for key in (*([names.UPGRADE_STATE] if upgrade else []), *said)),
            *some(scheduler_word(pod)),
        ),
        remedy=(_remedy(row.node, upgrade, bool(said)),),
    )


def _label(node: Node, key: str) -> Evidence:
    return Evidence(object=f"node/{node.name}", field=f"metadata.labels[{key}]", value=node.metadata.labels[key])


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


def _remedy(node: str, upgrade: str, is_told: bool) -> Remedy:
    if upgrade:
        return Remedy(
            f"The driver upgrade of {node} is at {upgrade}: see its driver pod",
            f"kubectl get pods -A -l app.kubernetes.io/component=nvidia-driver --field-selector spec.nodeName={node}",
            Risk.NONE,
        )
    if is_told:
        text = f"See what {node} was cordoned for, and mend that: who cordoned it takes that back"
        return Remedy(text, f"kubectl describe node {node}", Risk.NONE)
    return Remedy(f"If nobody is working on {node}, let it take pods again", f"kubectl uncordon {node}", Risk.MEDIUM)
