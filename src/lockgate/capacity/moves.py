"""Which pods to move, and where to, so that more copies of a pod fit: the fewest over several nodes.

The cluster is put as a puzzle of whole numbers (see packing), and the solution is tried with the model again. Left
where they are: pods that `hold_of` names, and those whose place the model cannot decide alone (host ports, spread, pod
affinity, device claims). Of a large cluster only the nodes that lack least take part.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lockgate.capacity.copies import copies_on, notices_itself, place_copies
from lockgate.capacity.demand import gpu_requests
from lockgate.capacity.eviction import Why, hold_of
from lockgate.capacity.packing import Kind, Packing, Puzzle, Sizes, pack
from lockgate.capacity.slots import shares_gpus
from lockgate.model import names
from lockgate.model.objects import Pod, PodDisruptionBudget
from lockgate.scheduling.budgets import allowed, guarding
from lockgate.scheduling.filters import checks, checks_but_room, first, unmodelled
from lockgate.scheduling.node_fit import shortages
from lockgate.scheduling.requests import PODS, Amounts, accounted_requests, pod_requests
from lockgate.scheduling.scene import NodeView, Scene, key

MOST_NODES = 48  # that take part in a search
MOST_KINDS = 300  # of pods; those that hold no device are left out beyond it
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

    `least`: no solution has fewer moves; they are the fewest when it is their number. `all_nodes`: every node that
    could matter took part.
    """

    moves: tuple[Move, ...]
    after: Scene
    copies: int
    least: int
    all_nodes: bool

    @property
    def fewest(self) -> bool:
        """Whether it is proven that no fewer moves would do."""
        return self.all_nodes and self.least == len(self.moves)


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
        return _Desk(pod, now.after, now.count).search(now.count + 1, now.count)
    if wanted - now.count > MOST_COPIES:
        return Search(note=f"moving pods for more than {MOST_COPIES} missing copies was not tried")
    return _Desk(pod, scene, 0).search(wanted, now.count)


class _Desk:
    """One cluster and one request as a puzzle: nodes, resources and kinds of pods by their number."""

    def __init__(self, pod: Pod, scene: Scene, placed: int) -> None:
        self._pod, self._scene, self._placed = pod, scene, placed
        self._asked = pod_requests(pod) | {PODS: 1}
        self._fits = copies_on(pod, scene)
        room = checks_but_room(pod, scene)
        self._open = [view for view in scene.nodes.values() if first(room, view) is None]
        self._views = self._taking_part()
        self._at = {view.name: number for number, view in enumerate(self._views)}
        self._held: Counter[Why] = Counter()
        self._budgets: dict[tuple[str, str], tuple[int, PodDisruptionBudget]] = {}
        self._kinds: dict[tuple[bytes, int | None], tuple[int, Pod]] = {}
        self._pods: dict[tuple[int, int], list[Pod]] = {}  # by node and kind
        self._all = len(self._views) == len(scene.nodes)
        there = [(number, other) for number, view in enumerate(self._views) for other in view.pods]
        for number, other in sorted(there, key=lambda each: not self._holds(each[1])):
            self._sort(number, other)
        self._names = _order({*self._asked, *(n for _, p in self._kinds.values() for n in _size(p))}, self._asked)

    def search(self, wanted: int, now: int) -> Search:
        """Try for all copies, and for fewer of them where that is proven to be impossible."""
        elsewhere, puzzle = self._placed + self._elsewhere(), self._puzzle()
        note, tried = "", 0
        for copies in range(wanted, now, -1):
            packed = pack(msgspec.structs.replace(puzzle, copies=copies - elsewhere))
            tried += packed.least > 0
            note = note or ("" if packed.proven else "the search for moves stopped at its bound")
            if packed.steps and (found := self._tried(packed, copies)):
                return Search(found=found, note=note or self._not_all(), held=self._held)
            if tried > _FEWER_TRIED:
                break
        return Search(note=note or self._not_all(), held=self._held)

    # --- the puzzle

    def _taking_part(self) -> list[NodeView]:
        """All nodes of a small cluster; else those where least lacks, and those with most room for what leaves them."""
        if len(self._scene.nodes) <= MOST_NODES:
            return list(self._scene.nodes.values())
        short = sorted((each for each in self._open if not self._fits(each)), key=self._lack)
        chosen = {view.name: view for view in short[: MOST_NODES // 2]}
        roomy = sorted(self._scene.nodes.values(), key=lambda view: (self._headroom(view), view.name))
        for view in roomy:
            if len(chosen) < MOST_NODES:
                chosen.setdefault(view.name, view)
        return list(chosen.values())

    def _lack(self, view: NodeView) -> tuple[int, int, str]:
        short = shortages(pod_requests(self._pod), view.room)
        gpus = sum(s.requested - s.headroom for s in short if names.is_gpu_resource(s.resource))
        return gpus, len(short), view.name

    def _headroom(self, view: NodeView) -> int:
        gpus = (name for name in self._asked if names.is_gpu_resource(name))
        return -sum(max(view.room.headroom(name), 0) for name in gpus)

    def _elsewhere(self) -> int:
        """Copies that fit on nodes that do not take part."""
        return sum(self._fits(view) for view in self._open if view.name not in self._at)

    def _sort(self, node: int, pod: Pod) -> None:
        """Count a pod among those that may leave, or among those that are held."""
        free = unbound(pod)
        if why := self._why_held(pod, free):
            self._held[why] += self._holds(pod)
        elif self._holds(pod) or len(self._kinds) < MOST_KINDS:
            number, _ = self._kinds.setdefault(self._kind_of(pod, free), (len(self._kinds) + 1, free))
            self._pods.setdefault((node, number), []).append(pod)
        else:
            self._all = False

    def _holds(self, pod: Pod) -> bool:
        """Whether a pod holds a device that is asked for; where none is asked for, anything that is."""
        gpus = [name for name in self._asked if names.is_gpu_resource(name)]
        return any(_size(pod).get(name) for name in gpus or self._asked)

    def _why_held(self, pod: Pod, free: Pod) -> Why | None:
        if hold := hold_of(pod, self._scene.budgets):
            return hold.why
        return Why.TIED if notices_itself(free) or unmodelled(free, self._scene) else None

    def _kind_of(self, pod: Pod, free: Pod) -> tuple[bytes, int | None]:
        guard = next(iter(guarding(pod, self._scene.budgets or {})), None)
        if guard is None:
            return _look(free), None
        number, _ = self._budgets.setdefault((guard.namespace, guard.name), (len(self._budgets), guard))
        return _look(free), number

    def _puzzle(self) -> Puzzle:
        kinds = [Kind(size=self._sizes(self._asked), homes=frozenset(self._at[v.name] for v in self._here(self._open)))]
        kinds += [self._kind(pod, budget) for (_, budget), (_, pod) in self._kinds.items()]
        counts = [[len(self._pods.get((n, k), ())) for k in range(len(kinds))] for n in range(len(self._views))]
        return Puzzle(
            free=tuple(tuple(view.room.headroom(name) for name in self._names) for view in self._views),
            here=tuple(map(tuple, counts)),
            kinds=tuple(kinds),
            copies=0,
            budgets=tuple(allowed(guard) for _, guard in self._budgets.values()),
            sorts=self._sorts(),
        )

    def _sorts(self) -> Sizes:
        """Nodes of one product that share their GPUs alike are of one sort."""
        looks = [(v.node.metadata.labels.get(names.GPU_PRODUCT), shares_gpus(v.node)) for v in self._views]
        return tuple(map(looks.index, looks))

    def _kind(self, pod: Pod, budget: int | None) -> Kind:
        asked = checks_but_room(pod, self._scene)
        homes = frozenset(n for n, view in enumerate(self._views) if first(asked, view) is None)
        return Kind(size=self._sizes(_size(pod)), homes=homes, budget=budget)

    def _here(self, views: Iterable[NodeView]) -> list[NodeView]:
        return [view for view in views if view.name in self._at]

    def _sizes(self, amounts: Amounts) -> Sizes:
        return tuple(amounts.get(name, 0) for name in self._names)

    # --- the solution

    def _tried(self, packed: Packing, copies: int) -> Moves | None:
        """The solution in the model: every pod on its target by all filters, and the copies counted again."""
        left = {place: list(pods) for place, pods in self._pods.items()}
        leaving = [(left[step.source or 0, step.kind].pop(), step) for step in packed.moves]
        scene = self._scene
        for pod, step in leaving:
            scene = scene.without_pods(self._views[step.source or 0].name, [key(pod)])
        moves = []
        for pod, step in leaving:
            target, free = self._views[step.target], unbound(pod)
            if first(checks(free, scene), scene.nodes[target.name]) is not None:
                return None
            scene = scene.with_pod(free, target.name)
            moves.append(_move(pod, self._views[step.source or 0], target))
        if place_copies(self._pod, scene, copies - self._placed).count < copies - self._placed:
            return None
        return Moves(moves=tuple(moves), after=scene, copies=copies, least=packed.least, all_nodes=self._all)

    def _not_all(self) -> str:
        return "" if self._all else f"pods were moved among {len(self._views)} of {len(self._scene.nodes)} nodes"


def unbound(pod: Pod) -> Pod:
    """The pod as its controller would make it again: without a node, and in no phase yet."""
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=""))


def _move(pod: Pod, source: NodeView, target: NodeView) -> Move:
    shared = shares_gpus(target.node) and not shares_gpus(source.node) and gpu_requests(pod)
    products = [view.node.metadata.labels.get(names.GPU_PRODUCT, "") for view in (source, target)]
    other = f"a {products[1]}" if gpu_requests(pod) and products[0] != products[1] else ""
    loses = "slots that share a GPU" if shared else other
    return Move(namespace=pod.namespace, pod=pod.name, source=source.name, target=target.name, loses=loses)


def _size(pod: Pod) -> Amounts:
    return accounted_requests(pod) | {PODS: 1}


def _look(pod: Pod) -> bytes:
    """What makes two pods alike to the filters: where they ask to go, and their labels, which others' terms select."""
    told = (pod.namespace, pod.metadata.labels, pod.spec, _size(pod))
    return msgspec.json.encode(told, order="deterministic")


def _order(found: set[str], asked: Mapping[str, int]) -> Sequence[str]:
    """The resources, GPUs first: the largest items are placed first."""
    return sorted(found, key=lambda name: (name not in asked, not names.is_gpu_resource(name), name == PODS, name))
