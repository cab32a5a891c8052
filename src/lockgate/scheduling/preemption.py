"""What evicting pods of lower priority would do for a pod that fits nowhere, as the scheduler tries it.

Source: kube-scheduler 1.37 plugins/defaultpreemption and framework/preemption. On each node that could help all pods of
lower priority are thought away and as many as possible put back, those that a disruption budget guards first; then the
node whose victims matter least is taken. Left out: pod groups, extenders, pods nominated already, and which of equal
nodes is taken (the scheduler draws). Of more than 100 nodes it looks at 100, or a tenth, from a random one on.
"""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from lockgate.model.objects import Pod, PodDisruptionBudget
from lockgate.scheduling.budgets import Budgets
from lockgate.scheduling.filters import Placement, checks, first, looks_beyond, place
from lockgate.scheduling.messages import render_fit_error, render_nomination, render_preemption
from lockgate.scheduling.scene import NodeView, Scene, key
from lockgate.scheduling.selectors import matches_labels

NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NEVER = "not eligible due to preemptionPolicy=Never."
LOOKS_AT = 100  # nodes, or a tenth of them where that is more (minCandidateNodesAbsolute, -Percentage)
# Since device claims are on by default their plugin answers first, and has no state when the pod was rejected earlier.
_REJECTED = "not found"
_LIFT = 1 << 31  # makes every priority positive, so that many victims weigh more than few


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A node where evicting makes room: who would go, most important first, and how many against their budget."""

    node: str
    victims: tuple[Pod, ...]
    violations: int


class Preemption(msgspec.Struct, frozen=True, kw_only=True):
    """Every node where evicting makes room; `counts` says why the others are none (nodes by reason)."""

    found: tuple[Candidate, ...]
    counts: Mapping[str, int]

    @property
    def candidates(self) -> tuple[str, ...]:
        """Names of the nodes where evicting makes room."""
        return tuple(candidate.node for candidate in self.found)

    @property
    def best(self) -> tuple[Candidate, ...]:
        """Those among which the scheduler draws: one, unless the victims of several matter equally."""
        left = self.found
        for score in _SCORES:
            least = min(map(score, left), default=0)
            left = tuple(candidate for candidate in left if score(candidate) == least)
        return left


def preempt(pod: Pod, scene: Scene, placement: Placement, most: int | None = None) -> Preemption:
    """Try every node that eviction could free, or the first until so many are found where it helps."""
    found: list[Candidate] = []
    counts: dict[str, int] = {}
    alone = not looks_beyond(pod, scene)
    for verdict in placement.verdicts:
        if len(found) == most:
            break
        resolvable = verdict.refusal is not None and verdict.refusal.resolvable
        near = scene.only(verdict.node) if alone else scene
        tried = _try(pod, near, verdict.node) if resolvable else (NOT_HELPFUL,)
        if isinstance(tried, Candidate):
            found.append(tried)
            continue
        for reason in tried:
            counts[reason] = counts.get(reason, 0) + 1
    return Preemption(found=tuple(found), counts=counts)


def may_preempt(pod: Pod) -> bool:
    """Whether a pod may have others evicted for it."""
    return pod.spec.preemption_policy != "Never"


def priority(pod: Pod) -> int:
    """A pod's priority; one made before there was a default has 0."""
    return pod.spec.priority or 0


def lower(pod: Pod, view: NodeView) -> tuple[Pod, ...]:
    """The pods on a node that this one may evict: strictly lower priority."""
    return tuple(other for other in view.pods if priority(other) < priority(pod))


def explain(pod: Pod, scene: Scene) -> str:
    """The text that the scheduler writes for a pod that fits nowhere, preemption part included; empty when it fits."""
    return next(iter(explanations(pod, scene)), "")


def explanations(pod: Pod, scene: Scene) -> tuple[str, ...]:
    """The same; several where the scheduler draws among nodes whose victims matter equally."""
    placement = place(pod, scene)
    if placement.nodes_that_fit:
        return ()
    prefilter = placement.rejected.message if placement.rejected else ""
    after = _postfilters(pod, scene, placement)
    return tuple(render_fit_error(len(scene.nodes), placement.counts, prefilter, each) for each in after)


def _postfilters(pod: Pod, scene: Scene, placement: Placement) -> tuple[str, ...]:
    if placement.rejected:
        return (_REJECTED,)
    if not may_preempt(pod):
        return (f"preemption: {NEVER}",)
    tried = preempt(pod, scene, placement)
    if tried.found:
        return tuple(render_nomination(candidate.node, len(candidate.victims)) for candidate in tried.best)
    return (render_preemption(len(scene.nodes), tried.counts),)


# --- one node


def _try(pod: Pod, scene: Scene, node: str) -> Candidate | tuple[str, ...]:
    """The victims on one node, or why there is no use in any."""
    evicted = sorted(lower(pod, scene.nodes[node]), key=_importance)
    if not evicted:
        return (NO_VICTIMS,)
    if refusal := _refusal(pod, scene, node, evicted):
        return refusal
    guarded, free = _by_budgets(evicted, scene.budgets or {})
    spared: list[Pod] = []
    victims: list[Pod] = []
    for other in (*guarded, *free):
        gone = [each for each in evicted if each is not other and each not in spared]
        (victims if _refusal(pod, scene, node, gone) else spared).append(other)
    return Candidate(
        node=node,
        victims=tuple(sorted(victims, key=_importance)),
        violations=sum(other in guarded for other in victims),
    )


def _refusal(pod: Pod, scene: Scene, node: str, gone: list[Pod]) -> tuple[str, ...]:
    """Why the pod does not fit on a node without these pods."""
    without = scene.without_pods(node, map(key, gone))
    refusal = first(checks(pod, without, gone), without.nodes[node])
    return refusal.reasons if refusal else ()


def _importance(pod: Pod) -> tuple[int, bool, float]:
    """Higher priority first, then the longer running; one that has not started counts as starting now."""
    started = pod.status.start_time
    return -priority(pod), started is None, started.timestamp() if started else 0.0


def _by_budgets(pods: Iterable[Pod], budgets: Budgets) -> tuple[list[Pod], list[Pod]]:
    """Those whose eviction would overdraw a budget, counted in the order given, and the others.

    Other than the eviction API the scheduler reads every budget of a pod, never one with an empty selector.
    """
    left = {(b.namespace, b.name): b.status.disruptions_allowed for each in budgets.values() for b in each}
    guarded: list[Pod] = []
    free: list[Pod] = []
    for pod in pods:
        overdrawn = any(_overdraws(pod, budget, left) for budget in budgets.get(pod.namespace, ()))
        (guarded if overdrawn else free).append(pod)
    return guarded, free


def _overdraws(pod: Pod, budget: PodDisruptionBudget, left: dict[tuple[str, str], int]) -> bool:
    selector = budget.spec.selector
    empty = selector is None or not (selector.match_labels or selector.match_expressions)
    if empty or not pod.metadata.labels or not matches_labels(selector, pod.metadata.labels):
        return False
    if pod.name in budget.status.disrupted_pods:
        return False
    left[budget.namespace, budget.name] -= 1
    return left[budget.namespace, budget.name] < 0


# --- the choice among nodes: the first score that tells them apart, least first


def _violations(candidate: Candidate) -> float:
    return candidate.violations


def _highest(candidate: Candidate) -> float:
    return priority(candidate.victims[0])


def _sum(candidate: Candidate) -> float:
    return sum(priority(victim) + _LIFT for victim in candidate.victims)


def _number(candidate: Candidate) -> float:
    return len(candidate.victims)


def _oldest(candidate: Candidate) -> float:
    """The start of the oldest among the most important victims: the later it is the better."""
    top = [victim for victim in candidate.victims if priority(victim) == _highest(candidate)]
    started = [victim.status.start_time.timestamp() for victim in top if victim.status.start_time]
    return -min(started) if started else float("-inf")


_SCORES: tuple[Callable[[Candidate], float], ...] = (_violations, _highest, _sum, _number, _oldest)
