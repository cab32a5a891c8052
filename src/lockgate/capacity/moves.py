"""Which pods to move, and where to, so that more copies of a pod fit: the fewest over several nodes.

The cluster is put as a puzzle of whole numbers, and the solution is tried with the model again.
"""

from collections.abc import Mapping

import msgspec

from lockgate.capacity.cluster_puzzle import ClusterPuzzle, unbound
from lockgate.capacity.copies import notices_itself, place_copies
from lockgate.capacity.demand import gpu_requests
from lockgate.capacity.eviction import Why
from lockgate.capacity.packing import Packing, pack
from lockgate.capacity.slots import shares_gpus
from lockgate.model import names
from lockgate.model.objects import Pod
from lockgate.scheduling.filters import checks, first
from lockgate.scheduling.scene import NodeView, Scene, key

MOST_COPIES = 32  # that are missing: beyond it moving pods is no answer
_FEWER_TRIED = 4  # smaller numbers of copies that are tried where the wanted one cannot be had


class Move(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One pod that leaves a node, and where the scheduler could put it again; `loses` says what is less there."""

    namespace: str
    pod: str
    source: str
    target: str
    loses: str = ""


class Moves(msgspec.Struct, frozen=True, kw_only=True):
    """The moves, the cluster after them, and how many copies fit then.

    `least`: no solution has fewer moves; they are the fewest when it is their number. `everything`: all nodes
    and pods that could matter took part.
    """

    moves: tuple[Move, ...]
    after: Scene
    copies: int
    least: int
    everything: bool

    @property
    def fewest(self) -> bool:
        """Whether it is proven that no fewer moves would do."""
        return self.everything and self.least == len(self.moves)


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """What was found; `note` says where the search ended early, so that nothing found proves nothing.

    `held` counts pods that hold what is short and were not moved, by the reason.
    """

    found: Moves | None = None
    note: str = ""
    held: Mapping[Why, int] = {}


def least_moves(pod: Pod, scene: Scene, wanted: int) -> Search:
    """The fewest moves after which `wanted` copies fit; where that cannot be had, after which more fit than now."""
    now = place_copies(pod, scene, wanted)
    if now.count >= wanted:
        return Search()
    if notices_itself(pod):  # one more than fit now, after those: each copy changes where the next may go
        return _search(pod, now.after, now.count, now.count + 1, now.count)
    if wanted - now.count > MOST_COPIES:
        return Search(note=f"moving pods for more than {MOST_COPIES} missing copies was not tried")
    return _search(pod, scene, 0, wanted, now.count)


def _search(pod: Pod, scene: Scene, placed: int, wanted: int, now: int) -> Search:
    """Try for all copies, and for fewer where that cannot be; `placed` of them are in the scene already."""
    cluster = ClusterPuzzle(pod, scene)
    puzzle, elsewhere = cluster.puzzle(), placed + cluster.copies_elsewhere()
    part = f"pods were moved among {len(cluster.views)} of {len(scene.nodes)} nodes"
    note, tried = "" if cluster.everything else part, 0
    for copies in range(wanted, now, -1):
        packed = pack(msgspec.structs.replace(puzzle, copies=copies - elsewhere))
        tried += packed.least > 0
        note = note if packed.proven else "the search for moves stopped at its bound"
        found = _tried(packed, cluster, pod, scene, copies - placed) if packed.steps else None
        if found is not None:
            found = msgspec.structs.replace(found, copies=copies)
        if found is not None or tried > _FEWER_TRIED:
            return Search(found=found, note=note, held=cluster.held)
    return Search(note=note, held=cluster.held)


def _tried(packed: Packing, cluster: ClusterPuzzle, pod: Pod, scene: Scene, copies: int) -> Moves | None:
    """The solution in the model: every pod on its target by all filters, and the copies counted again."""
    left = {place: list(pods) for place, pods in cluster.pods.items()}
    leaving = [(left[step.source or 0, step.kind].pop(), cluster.views[step.target]) for step in packed.moves]
    moves = [_move(each, scene.nodes[each.spec.node_name], target) for each, target in leaving]
    for each, _ in leaving:
        scene = scene.without_pods(each.spec.node_name, [key(each)])
    for each, target in leaving:
        if first(checks(unbound(each), scene), scene.nodes[target.name]) is not None:
            return None
        scene = scene.with_pod(unbound(each), target.name)
    if place_copies(pod, scene, copies).count < copies:
        return None
    return Moves(moves=tuple(moves), after=scene, copies=copies, least=packed.least, everything=cluster.everything)


def _move(pod: Pod, source: NodeView, target: NodeView) -> Move:
    shared = shares_gpus(target.node) and not shares_gpus(source.node) and gpu_requests(pod)
    products = [view.node.metadata.labels.get(names.GPU_PRODUCT, "") for view in (source, target)]
    other = f"a {products[1]}" if gpu_requests(pod) and products[0] != products[1] else ""
    loses = "slots that share a GPU" if shared else other
    return Move(namespace=pod.namespace, pod=pod.name, source=source.name, target=target.name, loses=loses)
