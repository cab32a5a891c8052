"""No GPU node has the labels that the pod selects.

Its nodeSelector or required node affinity leaves every GPU node out; the nearest node and its own value are shown.

Why it matters: product labels change with sharing (`-SHARED`) and MIG (`-MIG-1g.5gb`), and a selector that matched
yesterday matches nothing today.
How to tell: the labels of the nearest node differ from what the pod selects in what is shown.
Fix: correct the selector to a value that a node has, or label the node if the label is one of yours.
"""

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.rule import Failed, Passed, Skipped, rule
from lockgate.diagnosis.seen import MOST_NODES, label_missed, listed, more_nodes, pod_ref, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.told_refusal import ToldRefusal
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.selectors import Miss, node_misses


@rule(codes=("B02",), severity=Severity.BLOCKER, stages=(Stage.SCHEDULING,))
def selector(pod: Pod, gate_one: GateOne | Missing, told_refusal: ToldRefusal) -> Failed | Passed | Skipped | None:
    if isinstance(gate_one, Missing):
        if told_refusal.obstacle is Obstacle.SELECTOR:
            return _as_told(pod, told_refusal)
        return Skipped(gate_one.reason, gate_one.how)
    rows = gate_one.nearest_with(Obstacle.SELECTOR)
    if rows:
        return _failed(pod, rows)
    selects = bool(pod.spec.node_selector or (pod.spec.affinity and pod.spec.affinity.node_affinity))
    return Passed("its node selector admits GPU nodes") if gate_one.rows and selects else None


def _failed(pod: Pod, rows: tuple[GateRow, ...]) -> Failed:
    nearest = min(rows, key=lambda row: (len(row.misses), sum(m.seen is None for m in row.misses), row.node))
    miss = nearest.misses[0]
    return Failed(
        about=pod_ref(pod),
        summary=f"It selects {_wanted(nearest)}; {nearest.node} is nearest, with {_has(miss)}.",
        reach=len(rows),
        evidence=(
            *(Evidence(object=pod_ref(pod), field=_field(pod, m), value=m.wanted) for m in nearest.misses),
            *(label_missed(row.node, m) for row in rows[:MOST_NODES] for m in row.misses),
            *more_nodes(len(rows) - MOST_NODES),
            *some(scheduler_word(pod)),
        ),
        remedy=_remedies(nearest, miss),
    )


def _as_told(pod: Pod, told: ToldRefusal) -> Failed:
    """By the scheduler's words alone; a description shows the pod's nodeSelector, and never its affinity."""
    wants = node_misses(pod.spec, Node())  # what a node without any label lacks is what is asked of labels
    keys = ",".join(dict.fromkeys(m.key for m in wants if m.key and m.key != "metadata.name"))
    return Failed(
        about=pod_ref(pod),
        summary=f"No node has what the pod selects, says the scheduler: {_asked_for(wants)}.",
        reach=told.reach,
        evidence=(
            *(Evidence(object=pod_ref(pod), field=_field(pod, m), value=m.wanted) for m in wants),
            *told.evidence,
        ),
        remedy=(
            Remedy(
                "See which values the nodes have",
                f"kubectl get nodes -L {keys}" if keys else "kubectl get nodes --show-labels",
                Risk.NONE,
            ),
            Remedy(
                "See all that the pod selects",
                f"kubectl get pod -n {pod.namespace} {pod.name} -o yaml | grep -A 30 -e nodeSelector: -e affinity:",
                Risk.NONE,
            ),
        ),
    )


def _asked_for(wants: tuple[Miss, ...]) -> str:
    return listed(m.wanted for m in wants) or "what its node affinity asks for"


def _field(pod: Pod, miss: Miss) -> str:
    return "spec.nodeSelector" if miss.key in pod.spec.node_selector else "spec.affinity.nodeAffinity"


def _wanted(row: GateRow) -> str:
    return listed(m.wanted for m in row.misses)


def _has(miss: Miss) -> str:
    return "no such label" if miss.seen is None else f"{miss.key}={miss.seen}"


def _remedies(nearest: GateRow, miss: Miss) -> tuple[Remedy, ...]:
    look = Remedy("See which values the nodes have", f"kubectl get nodes -L {miss.key}", Risk.NONE)
    if miss.seen is None:
        return (
            Remedy(f"Correct the selector {miss.wanted}: {nearest.node} has no label {miss.key}", "", Risk.LOW),
            look,
        )
    shared = " (its GPUs are shared or partitioned now)" if _is_sharing(miss) else ""
    return (Remedy(f"Select {miss.key}={miss.seen}{shared} if that is what is meant", "", Risk.LOW), look)


def _is_sharing(miss: Miss) -> bool:
    return miss.key == names.GPU_PRODUCT and miss.seen is not None and ("-SHARED" in miss.seen or "-MIG-" in miss.seen)
