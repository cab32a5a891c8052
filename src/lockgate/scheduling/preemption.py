"""What evicting pods of lower priority would do for a pod that fits nowhere, as the scheduler tries it.

Source: kube-scheduler 1.37 plugins/defaultpreemption and framework/preemption. Left out: pod disruption budgets and the
choice among several nodes; this says on which nodes eviction helps, not which one the scheduler takes.
"""

from collections.abc import Mapping

import msgspec

from lockgate.model.objects import Pod
from lockgate.scheduling.filters import Placement, checks, first, place
from lockgate.scheduling.messages import render_fit_error, render_preemption
from lockgate.scheduling.scene import NodeView, Scene, key

NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NEVER = "not eligible due to preemptionPolicy=Never."
# Since device claims are on by default their plugin answers first, and has no state when the pod was rejected earlier.
_REJECTED = "not found"


class Preemption(msgspec.Struct, frozen=True, kw_only=True):
    """`candidates` are nodes where evicting makes room; `counts` says why the others are not (nodes by reason)."""

    candidates: tuple[str, ...]
    counts: Mapping[str, int]


def preempt(pod: Pod, scene: Scene, placement: Placement) -> Preemption:
    """Take every pod of lower priority from each node that eviction could free, and hold the pod against it again."""
    candidates: list[str] = []
    counts: dict[str, int] = {}
    for verdict in placement.verdicts:
        resolvable = verdict.refusal is not None and verdict.refusal.resolvable
        reasons = _without_victims(pod, scene, verdict.node) if resolvable else (NOT_HELPFUL,)
        if not reasons:
            candidates.append(verdict.node)
        for reason in reasons:
            counts[reason] = counts.get(reason, 0) + 1
    return Preemption(candidates=tuple(candidates), counts=counts)


def priority(pod: Pod) -> int:
    """A pod's priority; one made before there was a default has 0."""
    return pod.spec.priority or 0


def victims(pod: Pod, view: NodeView) -> tuple[Pod, ...]:
    """The pods on a node that this one may evict: strictly lower priority."""
    return tuple(other for other in view.pods if priority(other) < priority(pod))


def explain(pod: Pod, scene: Scene) -> str:
    """The text that the scheduler writes for a pod that fits nowhere, preemption part included; empty when it fits.

    Where eviction would make room the scheduler names one node and a number of victims; that choice is not modelled,
    so the text ends before it.
    """
    placement = place(pod, scene)
    if placement.nodes_that_fit:
        return ""
    prefilter = placement.rejected.message if placement.rejected else ""
    return render_fit_error(len(scene.nodes), placement.counts, prefilter, _postfilter(pod, scene, placement))


def _postfilter(pod: Pod, scene: Scene, placement: Placement) -> str:
    if placement.rejected:
        return _REJECTED
    if pod.spec.preemption_policy == "Never":
        return f"preemption: {NEVER}"
    found = preempt(pod, scene, placement)
    return "" if found.candidates else render_preemption(len(scene.nodes), found.counts)


def _without_victims(pod: Pod, scene: Scene, node: str) -> tuple[str, ...]:
    evicted = victims(pod, scene.nodes[node])
    if not evicted:
        return (NO_VICTIMS,)
    left = scene.without_pods(node, map(key, evicted))
    refusal = first(checks(pod, left), left.nodes[node])
    return refusal.reasons if refusal else ()
