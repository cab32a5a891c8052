"""What the scheduler would do by itself for copies that do not fit: evict pods of lower priority, copy by copy."""

from collections.abc import Mapping

import msgspec

from lockgate.capacity.copies import place_copies
from lockgate.model.objects import Pod, PriorityClass
from lockgate.scheduling.filters import place
from lockgate.scheduling.preemption import LOOKS_AT, Candidate, may_preempt, preempt, priority
from lockgate.scheduling.scene import Scene, key

MOST_COPIES, MOST_IN_LARGE = 16, 4  # for which evictions are thought through; of more nodes than the scheduler looks at
_CRITICAL = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


class Preempted(msgspec.Struct, frozen=True, kw_only=True):
    """Copies that would be there after the evictions, and those in their order; `draws`: the scheduler might choose
    other nodes, because several matter equally or because it does not look at all of them.
    """

    copies: int
    evictions: tuple[Candidate, ...] = ()
    draws: bool = False


def preempted(pod: Pod, scene: Scene, wanted: int) -> Preempted:
    """Place what fits, then evict for one copy after another until all are there or evicting helps no more."""
    placed = place_copies(pod, scene, wanted)
    scene, count = placed.after, placed.count
    evictions: list[Candidate] = []
    draws = False
    large = len(scene.nodes) > LOOKS_AT
    most = MOST_IN_LARGE if large else MOST_COPIES
    while count < wanted and len(evictions) < most and _has_victims(pod, scene):
        placement = place(pod, scene)
        tried = preempt(pod, scene, placement, most=LOOKS_AT)
        if placement.rejected or not tried.best:
            break
        chosen = tried.best[0]
        draws = draws or large or len(tried.best) > 1
        evictions.append(chosen)
        after = scene.without_pods(chosen.node, map(key, chosen.victims)).with_pod(pod, chosen.node)
        more = place_copies(pod, after, wanted - count - 1)
        scene, count = more.after, count + 1 + more.count
    return Preempted(copies=count, evictions=tuple(evictions), draws=draws)


def with_priority(pod: Pod, scene: Scene) -> Pod:
    """The pod with priority and policy of its class, or of the default class, as admission fills them in.

    Where classes were not read the number is that of pods which have the class; None where none has.
    """
    spec, name = pod.spec, pod.spec.priority_class_name
    if spec.priority is not None or (not name and scene.priorities is None):
        return pod
    found = _class(name, scene.priorities or {})
    number = _CRITICAL.get(name, found.value if found else _seen(name, scene))
    policy = spec.preemption_policy or (found.preemption_policy if found else "")
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(spec, priority=number, preemption_policy=policy))


def _class(name: str, classes: Mapping[str, PriorityClass]) -> PriorityClass | None:
    return classes.get(name) if name else next((each for each in classes.values() if each.global_default), None)


def _seen(name: str, scene: Scene) -> int | None:
    """The priority of pods that have a class; pods without one have 0."""
    same = (p.spec.priority for v in scene.nodes.values() for p in v.pods if p.spec.priority_class_name == name)
    return next(same, None) if name else 0


def _has_victims(pod: Pod, scene: Scene) -> bool:
    own = priority(pod)
    return may_preempt(pod) and any(priority(other) < own for view in scene.nodes.values() for other in view.pods)
