"""The GPU nodes have a taint that the pod does not tolerate.

GPU pools are often tainted so that only GPU pods land there; `node.kubernetes.io/*` says that the node is not well.

Why it matters: newer schedulers no longer name the taint in their text, so it has to be read from the nodes.
How to tell: `spec.taints` of the node has a taint that none of the pod's tolerations matches.
Fix: add the toleration to the pod, or remove the taint if it is a leftover.
"""

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.remedies import tolerate
from lockgate.diagnosis.rule import Failed, Passed, Skipped, on_each, rule
from lockgate.diagnosis.seen import MOST_NODES, listed, more_nodes, pod_ref, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne, gpu_asked
from lockgate.diagnosis.views.told_refusal import ToldRefusal
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod, Taint
from lockgate.scheduling.requests import defaulted_requests
from lockgate.scheduling.taints import NODE_IS_SICK, taint_text

_VENDOR = "nvidia.com/"
# Taints that a program sets and takes away again, and what it is about: neither is tolerating these.
_PASSING = {
    "ToBeDeletedByClusterAutoscaler": "cluster-autoscaler is about to remove it",
    "karpenter.sh/disrupted": "Karpenter is about to replace or remove it",
    "karpenter.sh/unregistered": "Karpenter has not registered it yet",
    "node.cloudprovider.kubernetes.io/uninitialized": "the cloud's controller has not initialized it yet",
    "node.cilium.io/agent-not-ready": "Cilium's agent is not ready there yet",
}

_LIST = Remedy(
    "See which node has which taint, and its effect",
    "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints",
    Risk.NONE,
)


@rule(codes=("B01", "B04"), severity=Severity.BLOCKER, stages=(Stage.SCHEDULING,), asks_gpu=None)
def untolerated_taint(
    pod: Pod, gate_one: GateOne | Missing, told_refusal: ToldRefusal
) -> Failed | Passed | Skipped | None:
    if not _is_for_gpu_nodes(pod):
        return None
    if isinstance(gate_one, Missing):
        if told_refusal.obstacle is Obstacle.TAINT:
            return _as_told(pod, told_refusal)
        return Skipped(gate_one.reason, gate_one.how)
    rows = gate_one.nearest_with(Obstacle.TAINT)
    if rows:
        return on_each([*_of_sick_nodes(pod, rows), *_of_pools(pod, rows)])
    if any(Obstacle.TAINT in row.obstacles for row in gate_one.candidates):  # a node farther off is kept from it so
        return None
    return Passed("the pod tolerates every taint of the nearest GPU nodes") if gate_one.rows else None


def _is_for_gpu_nodes(pod: Pod) -> bool:
    """Whether it asks for anything of NVIDIA's, be it misspelt: once that is mended, the taint would still be there."""
    return bool(gpu_asked(pod)) or any(n.startswith(_VENDOR) for n in defaulted_requests(pod.spec))


def _of_pools(pod: Pod, rows: tuple[GateRow, ...]) -> list[Failed]:
    """The taints that somebody set, of all nodes together: the pod lacks their tolerations."""
    own = {row.node: tuple(t for t in row.taints if not t.key.startswith(NODE_IS_SICK)) for row in rows}
    tainted = [(node, taints) for node, taints in own.items() if taints]
    return [_failed(pod, "B01", tainted)] if tainted else []


def _of_sick_nodes(pod: Pod, rows: tuple[GateRow, ...]) -> list[Failed]:
    """The taints that tell that a node is not well, node by node: each has a reason of its own."""
    sick = [(row.node, tuple(t for t in row.taints if t.key.startswith(NODE_IS_SICK))) for row in rows]
    return [_failed(pod, "B04", [(node, taints)]) for node, taints in sick if taints]


def _failed(pod: Pod, code: str, tainted: list[tuple[str, tuple[Taint, ...]]]) -> Failed:
    every = list(dict.fromkeys(t for _, taints in tainted for t in taints))
    where = listed(node for node, _ in tainted)
    return Failed(
        about=f"node/{where}" if len(tainted) == 1 else "nodes",
        codes=(code,),
        summary=f"{where}: the pod does not tolerate {listed(map(taint_text, every))}.",
        reach=len(tainted),
        nodes=tuple(node for node, _ in tainted),
        evidence=(
            *(_taint_seen(node, t) for node, taints in tainted[:MOST_NODES] for t in taints),
            *more_nodes(len(tainted) - MOST_NODES),
            Evidence(object=pod_ref(pod), field="spec.tolerations", value=_tolerations(pod)),
            *some(scheduler_word(pod)),
        ),
        remedy=tuple(_remedy(t, next(node for node, taints in tainted if t in taints)) for t in every),
    )


def _as_told(pod: Pod, told: ToldRefusal) -> Failed:
    """By the scheduler's words alone: older ones name a taint without its effect, newer ones none."""
    taints = list(dict.fromkeys(Taint(*r.taint) for r in told.reasons if r.taint))
    sick = [t for t in taints if t.key.startswith(NODE_IS_SICK)]
    which = f" {listed(map(_without_effect, taints))}" if taints else ""
    return Failed(
        about="nodes",
        codes=("B04",) if taints and len(sick) == len(taints) else ("B01",),
        summary=f"The scheduler refuses every node that it may use by a taint{which} that the pod does not tolerate.",
        reach=told.reach,
        evidence=(
            *told.evidence,
            Evidence(object=pod_ref(pod), field="spec.tolerations", value=_tolerations(pod)),
        ),
        remedy=(*(_remedy(t, "NODE") for t in taints), _LIST),
    )


def _without_effect(taint: Taint) -> str:
    return f"{taint.key}={taint.value}" if taint.value else taint.key


def _taint_seen(node: str, taint: Taint) -> Evidence:
    note = _PASSING.get(taint.key, "not tolerated")
    return Evidence(object=f"node/{node}", field="spec.taints", value=taint_text(taint), note=note)


def _tolerations(pod: Pod) -> str:
    own = [t for t in pod.spec.tolerations if not t.key.startswith(NODE_IS_SICK)]
    return (
        listed(f"{t.key or '*'}{f'={t.value}' if t.value else ''}:{t.effect or '*'}" for t in own) or "none of its own"
    )


def _remedy(taint: Taint, node: str) -> Remedy:
    if taint.key.startswith(NODE_IS_SICK):
        return Remedy(
            f"Find out why {node} is {taint.key.removeprefix(NODE_IS_SICK)}",
            f"kubectl describe node {node}",
            Risk.NONE,
        )
    if taint.key in _PASSING:
        text = f"Wait, or find out why the taint stays: {_PASSING[taint.key]}"
        return Remedy(text, f"kubectl describe node {node}", Risk.NONE)
    return tolerate(taint)
