"""What the scheduler would do by itself for copies that do not fit: evict pods of lower priority, copy by copy."""

import msgspec

from lockgate.capacity.copies import place_copies
from lockgate.model.objects import Pod
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
    """The pod with the number of its priority class, read from pods that have the class; as it is where none has."""
    name = pod.spec.priority_class_name
    if pod.spec.priority is not None or not name:
        return pod
    same = (p.spec.priority for v in scene.nodes.values() for p in v.pods if p.spec.priority_class_name == name)
    known = _CRITICAL.get(name, next(same, None))
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, priority=known))


def _has_victims(pod: Pod, scene: Scene) -> bool:
    own = priority(pod)
    return may_preempt(pod) and any(priority(other) < own for view in scene.nodes.values() for other in view.pods)
