"""Other pods keep it off the GPU nodes.

A host port is taken there, or pod affinity, anti-affinity or topology spread does not allow the node.

Why it matters: GPUs are free, and a wish of the pod, or of a pod that is there already, is what says no.
How to tell: the scheduler names ports, affinity or topology spread; GPUs of the node have headroom.
Fix: loosen the rule (preferred instead of required, a larger maxSkew), free the port, or add a node in another domain.
"""

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.rule import Failed, Passed, Skipped, rule
from lockgate.diagnosis.seen import MOST_NODES, listed, more_nodes, pod_ref, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.told_refusal import ToldRefusal
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Affinity, LabelSelector, Pod


@rule(codes=("B07",), severity=Severity.BLOCKER, stages=(Stage.SCHEDULING,), gpu=False)
def placement(pod: Pod, gate_one: GateOne | Missing, told_refusal: ToldRefusal) -> Failed | Passed | Skipped | None:
    if isinstance(gate_one, Missing):
        if told_refusal.obstacle is Obstacle.PLACEMENT:
            return _as_told(pod, told_refusal)
        return Skipped(gate_one.reason, gate_one.how)
    rows = gate_one.nearest_with(Obstacle.PLACEMENT)
    if rows:
        return _failed(pod, rows)
    wishes = pod.spec.affinity or pod.spec.topology_spread_constraints
    return Passed("its wishes about other pods admit a GPU node") if wishes and gate_one.rows else None


def _failed(pod: Pod, rows: tuple[GateRow, ...]) -> Failed:
    reasons = list(dict.fromkeys(reason for row in rows for reason in row.placement))
    return Failed(
        about="nodes" if len(rows) > 1 else f"node/{rows[0].node}",
        summary=f"{listed(row.node for row in rows)}: {listed(reasons)}.",
        reach=len(rows),
        evidence=(
            *_wishes(pod),
            *map(_seen, rows[:MOST_NODES]),
            *more_nodes(len(rows) - MOST_NODES),
            *some(scheduler_word(pod)),
        ),
        remedy=(
            Remedy(
                "See what the pod wants of other pods, and what runs on the node",
                f"kubectl get pods -A -o wide --field-selector spec.nodeName={rows[0].node}",
                Risk.NONE,
            ),
        ),
    )


def _as_told(pod: Pod, told: ToldRefusal) -> Failed:
    """By the scheduler's words alone."""
    return Failed(
        about="nodes",
        summary=f"The scheduler says: {listed(r.text for r in told.reasons)}.",
        reach=told.reach,
        evidence=(*_wishes(pod), *told.evidence),
        remedy=(
            Remedy(
                "See what the pod wants of other pods, and where those run",
                f"kubectl get pod -n {pod.namespace} {pod.name} -o yaml; kubectl get pods -A -o wide",
                Risk.NONE,
            ),
        ),
    )


def _wishes(pod: Pod) -> tuple[Evidence, ...]:
    """What the pod itself wants of other pods: which ones, and within what."""
    affinity, ref = pod.spec.affinity or Affinity(), pod_ref(pod)
    terms = [
        (f"spec.affinity.{field}", term.topology_key, term.label_selector)
        for field, wish in (("podAffinity", affinity.pod_affinity), ("podAntiAffinity", affinity.pod_anti_affinity))
        for term in (wish.required if wish else ())
    ]
    terms += [
        ("spec.topologySpreadConstraints", f"{spread.topology_key} (maxSkew {spread.max_skew})", spread.label_selector)
        for spread in pod.spec.topology_spread_constraints
        if spread.when_unsatisfiable == "DoNotSchedule"
    ]
    return tuple(
        Evidence(object=ref, field=field, value=f"pods {_selected(selector)} per {key}")
        for field, key, selector in terms
    )


def _selected(selector: LabelSelector | None) -> str:
    if selector is None:
        return "(none)"
    labels = [f"{name}={value}" for name, value in selector.match_labels.items()]
    return (
        listed([*labels, *(f"{e.key} {e.operator} {listed(e.values)}" for e in selector.match_expressions)]) or "(all)"
    )


def _seen(row: GateRow) -> Evidence:
    note = f"{row.arithmetic()}: GPUs are not what is short" if row.headroom and row.headroom >= row.asked else ""
    return Evidence(object=f"node/{row.node}", field="placement", value=listed(row.placement), note=note)
