"""Pod disruption budgets: which pods one guards, and whether the eviction API would let a pod go now.

Source: kubernetes 1.37 registry/core/pod/storage/eviction.go. A budget's status is believed as it stands, as the API
server does; whoever evicts several pods has to count them against `disruptionsAllowed` himself.
"""

from collections.abc import Iterable, Mapping

from lockgate.model.objects import Pod, PodDisruptionBudget
from lockgate.scheduling.node_fit import is_terminal
from lockgate.scheduling.selectors import matches_labels

Budgets = Mapping[str, tuple[PodDisruptionBudget, ...]]  # by namespace


def by_namespace(budgets: Iterable[PodDisruptionBudget]) -> Budgets:
    """Budgets grouped by the namespace whose pods they guard."""
    grouped: dict[str, list[PodDisruptionBudget]] = {}
    for budget in budgets:
        grouped.setdefault(budget.namespace, []).append(budget)
    return {namespace: tuple(found) for namespace, found in grouped.items()}


def guarding(pod: Pod, budgets: Budgets) -> tuple[PodDisruptionBudget, ...]:
    """The budgets that an eviction of this pod is counted against; none for a pod that disrupts nothing by leaving.

    A pod that is finished, pending or on its way out is deleted without asking; one that is not ready is let go as
    long as enough others are, or its budget says `AlwaysAllow`.
    """
    if is_terminal(pod) or pod.status.phase == "Pending" or pod.metadata.deletion_timestamp is not None:
        return ()
    found = tuple(b for b in budgets.get(pod.namespace, ()) if matches_labels(b.spec.selector, pod.metadata.labels))
    return found if len(found) > 1 or _is_ready(pod) else tuple(b for b in found if not _lets_the_unready_go(b))


def refusal(pod: Pod, budgets: Budgets) -> str:
    """Why the eviction API would refuse to evict this pod now, in words for a person; "" when it would not."""
    guards = guarding(pod, budgets)
    if len(guards) > 1:
        names = ", ".join(budget.name for budget in guards)
        return f"PodDisruptionBudgets {names} guard it, and the eviction API takes no more than one"
    return next((f"PodDisruptionBudget {b.name} allows no disruption now" for b in guards if allowed(b) < 1), "")


def allowed(budget: PodDisruptionBudget) -> int:
    """How many pods may be evicted now; none while the controller has not looked at the budget's present spec."""
    stale = budget.status.observed_generation < budget.metadata.generation
    return 0 if stale else max(budget.status.disruptions_allowed, 0)


def _lets_the_unready_go(budget: PodDisruptionBudget) -> bool:
    status = budget.status
    if budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
        return True
    return status.current_healthy >= status.desired_healthy > 0


def _is_ready(pod: Pod) -> bool:
    return any(c.type == "Ready" and c.status == "True" for c in pod.status.conditions)
