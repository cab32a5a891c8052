"""The least number of pods to move off a node so that one more pod fits there, each of them with a place to go.

Plain search by increasing number, over the pods that hold what is short; bounded, and said when the bound was met.
Not moved: pods of DaemonSets, static pods, pods without a controller, pods that are marked as not to be evicted.
Pod disruption budgets are not read.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations, islice

import msgspec

from lockgate.model.objects import Pod
from lockgate.scheduling.filters import checks, first
from lockgate.scheduling.node_fit import shortages
from lockgate.scheduling.requests import Amounts, accounted_requests, pod_requests
from lockgate.scheduling.scene import NodeView, Scene, key

MOST_MOVES = 4
MOST_TRIES = 200
_DO_NOT_EVICT = {
    "karpenter.sh/do-not-disrupt": "true",
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
}
_STATIC = "kubernetes.io/config.mirror"


class Move(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One pod that leaves a node, and where the scheduler could put it again."""

    namespace: str
    pod: str
    source: str
    target: str


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """The moves, and the cluster after them."""

    moves: tuple[Move, ...]
    after: Scene


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """What was found; `complete` is False when the search stopped at its bound, so that None proves nothing."""

    moved: Moved | None = None
    complete: bool = True


def least_moves(pod: Pod, scene: Scene, node: str, most: int = MOST_MOVES) -> Search:
    """The fewest pods, up to `most`, to move off a node so that one copy fits there."""
    view = scene.nodes[node]
    groups = _groups(view, pod_requests(pod), most)
    for group in islice(groups, MOST_TRIES):
        if (moved := _try(pod, scene, view, group)) is not None:
            return Search(moved=moved)
    return Search(complete=next(groups, None) is None)


def movable(pod: Pod) -> bool:
    """Whether a pod would come back elsewhere by itself when it is evicted, and may be."""
    owner = next((o for o in pod.metadata.owner_references if o.controller), None)
    if owner is None or owner.kind in ("DaemonSet", "Node") or _STATIC in pod.metadata.annotations:
        return False
    return not is_kept(pod) and pod.metadata.deletion_timestamp is None


def is_kept(pod: Pod) -> bool:
    """Whether an annotation of a well-known autoscaler asks to leave the pod where it is."""
    return any(pod.metadata.annotations.get(name) == value for name, value in _DO_NOT_EVICT.items())


def _groups(view: NodeView, asked: Amounts, most: int) -> Iterator[tuple[Pod, ...]]:
    """Sets of pods that together give back enough of everything that is short, smallest sets first."""
    lacking = {s.resource: s.requested - s.headroom for s in shortages(asked, view.room)}
    holders = [(pod, _gives(pod, lacking)) for pod in view.pods if movable(pod)]
    useful = sorted(((p, g) for p, g in holders if any(g.values())), key=lambda each: _size(each[1]))
    for count in range(1, min(most, len(useful)) + 1):
        for chosen in combinations(useful, count):
            if all(sum(gives[name] for _, gives in chosen) >= lack for name, lack in lacking.items()):
                yield tuple(pod for pod, _ in chosen)


def _gives(pod: Pod, lacking: Mapping[str, int]) -> dict[str, int]:
    held = accounted_requests(pod) | {"pods": 1}
    return {name: held.get(name, 0) for name in lacking}


def _size(gives: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(gives[name] for name in sorted(gives))


def _try(pod: Pod, scene: Scene, view: NodeView, group: tuple[Pod, ...]) -> Moved | None:
    """Take the group off, put the pod there, and find each of the group a place among the other nodes."""
    gone = scene.without_pods(view.name, map(key, group))
    if first(checks(pod, gone), gone.nodes[view.name]) is not None:
        return None
    held = gone.with_pod(pod, view.name)
    moves: list[Move] = []
    for each in group:
        if (target := _place_for(each, held, view.name)) is None:
            return None
        held = held.with_pod(_unbound(each), target)
        moves.append(Move(namespace=each.namespace, pod=each.name, source=view.name, target=target))
    return Moved(moves=tuple(moves), after=_without_copy(held, pod, view.name))


def _place_for(pod: Pod, scene: Scene, source: str) -> str | None:
    free = _unbound(pod)
    asked = checks(free, scene)
    return next((name for name, view in scene.nodes.items() if name != source and first(asked, view) is None), None)


def _unbound(pod: Pod) -> Pod:
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=""))


def _without_copy(scene: Scene, pod: Pod, node: str) -> Scene:
    """The scene without the copy that was tried: the caller counts copies itself."""
    return scene.without_pods(node, [key(pod)])
