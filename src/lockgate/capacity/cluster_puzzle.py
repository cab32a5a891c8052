"""A cluster and a request as a puzzle: nodes, resources and kinds of pods by their number.

Of a large cluster the nodes take part where least lacks, and those with most room for what leaves them. Pods stay that
`hold_of` names, and those whose place the model cannot decide alone (host ports, spread, pod affinity, device claims).
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from lockgate.capacity.copies import copies_on, notices_itself
from lockgate.capacity.eviction import Why, hold_of
from lockgate.capacity.puzzle import Kind, Puzzle, Sizes
from lockgate.capacity.slots import shares_gpus
from lockgate.model import names
from lockgate.model.objects import Pod, PodDisruptionBudget
from lockgate.scheduling.budgets import allowed, guarding
from lockgate.scheduling.filters import checks_but_room, first, unmodelled
from lockgate.scheduling.node_fit import shortages
from lockgate.scheduling.requests import PODS, Amounts, accounted_requests, pod_requests
from lockgate.scheduling.scene import NodeView, Scene

MOST_NODES = 48  # that take part in a search
MOST_KINDS = 300  # of pods; those that hold no device are left out beyond it


class ClusterPuzzle:
    """`views` are the nodes that take part, `pods` those that may leave, by node and kind; `held` counts the others.

    `everything` says that all nodes and pods that could matter are in it.
    """

    def __init__(self, pod: Pod, scene: Scene) -> None:
        self._pod, self._scene = pod, scene
        self._asked = {**pod_requests(pod), PODS: 1}
        self._fits = copies_on(pod, scene)
        but_room = checks_but_room(pod, scene)
        self._open = [view for view in scene.nodes.values() if first(but_room, view) is None]
        self.views = self._taking_part()
        self.everything = len(self.views) == len(scene.nodes)
        self.held: Counter[Why] = Counter()
        self.pods: dict[tuple[int, int], list[Pod]] = {}
        self._kinds: dict[tuple[bytes, int | None], tuple[int, Pod]] = {}
        self._budgets: dict[tuple[str, str], tuple[int, PodDisruptionBudget]] = {}
        there = [(number, other) for number, view in enumerate(self.views) for other in view.pods]
        for number, other in sorted(there, key=lambda each: not self._holds(each[1])):
            self._sort(number, other)

    def puzzle(self) -> Puzzle:
        """The numbers, for no copies yet."""
        at = {view.name: number for number, view in enumerate(self.views)}
        resources = _order({*self._asked, *(n for _, p in self._kinds.values() for n in size(p))}, self._asked)
        homes = frozenset(at[view.name] for view in self._open if view.name in at)
        kinds = [Kind(size=_sizes(self._asked, resources), homes=homes)]
        kinds += [self._kind(pod, budget, resources) for (_, budget), (_, pod) in self._kinds.items()]
        counts = ((len(self.pods.get((n, k), ())) for k in range(len(kinds))) for n in range(len(self.views)))
        return Puzzle(
            free=tuple(tuple(map(view.room.headroom, resources)) for view in self.views),
            here=tuple(map(tuple, counts)),
            kinds=tuple(kinds),
            copies=0,
            budgets=tuple(allowed(guard) for _, guard in self._budgets.values()),
            sorts=self._sorts(),
        )

    def copies_elsewhere(self) -> int:
        """Copies that fit on nodes that do not take part."""
        here = {view.name for view in self.views}
        return sum(self._fits(view) for view in self._open if view.name not in here)

    # --- nodes

    def _taking_part(self) -> list[NodeView]:
        if len(self._scene.nodes) <= MOST_NODES:
            return list(self._scene.nodes.values())
        short = sorted((each for each in self._open if not self._fits(each)), key=self._lack)
        chosen = {view.name: view for view in short[: MOST_NODES // 2]}
        for view in sorted(self._scene.nodes.values(), key=lambda view: (-self._headroom(view), view.name)):
            if len(chosen) < MOST_NODES:
                chosen.setdefault(view.name, view)
        return list(chosen.values())

    def _lack(self, view: NodeView) -> tuple[int, int, str]:
        short = shortages(pod_requests(self._pod), view.room)
        gpus = sum(s.requested - s.headroom for s in short if names.is_gpu_resource(s.resource))
        return gpus, len(short), view.name

    def _headroom(self, view: NodeView) -> int:
        return sum(max(view.room.headroom(name), 0) for name in filter(names.is_gpu_resource, self._asked))

    def _sorts(self) -> Sizes:
        """Nodes of one product that share their GPUs alike are of one sort."""
        looks = [(v.node.metadata.labels.get(names.GPU_PRODUCT), shares_gpus(v.node)) for v in self.views]
        return tuple(map(looks.index, looks))

    # --- pods

    def _sort(self, node: int, pod: Pod) -> None:
        """Count a pod among those that may leave, or among those that are held."""
        free = unbound(pod)
        if why := self._why_held(pod, free):
            self.held[why] += self._holds(pod)
        elif self._holds(pod) or len(self._kinds) < MOST_KINDS:
            number, _ = self._kinds.setdefault(self._kind_of(pod, free), (len(self._kinds) + 1, free))
            self.pods.setdefault((node, number), []).append(pod)
        else:
            self.everything = False

    def _holds(self, pod: Pod) -> bool:
        """Whether a pod holds a device that is asked for; where none is asked for, anything that is."""
        gpus = [name for name in self._asked if names.is_gpu_resource(name)]
        return any(size(pod).get(name) for name in gpus or self._asked)

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

    def _kind(self, pod: Pod, budget: int | None, resources: Sequence[str]) -> Kind:
        but_room = checks_but_room(pod, self._scene)
        homes = frozenset(n for n, view in enumerate(self.views) if first(but_room, view) is None)
        return Kind(size=_sizes(size(pod), resources), homes=homes, budget=budget)


def unbound(pod: Pod) -> Pod:
    """The pod as its controller would make it again: without a node."""
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=""))


def size(pod: Pod) -> Amounts:
    """What a pod takes from its node, its place among the node's pods included."""
    return {**accounted_requests(pod), PODS: 1}


def _sizes(amounts: Amounts, resources: Sequence[str]) -> Sizes:
    return tuple(amounts.get(name, 0) for name in resources)


def _look(pod: Pod) -> bytes:
    """What makes two pods alike to the filters: where they ask to go, and their labels, which others' terms select."""
    told = (pod.namespace, pod.metadata.labels, pod.spec, size(pod))
    return msgspec.json.encode(told, order="deterministic")


def _order(found: set[str], asked: Mapping[str, int]) -> Sequence[str]:
    """The resources, GPUs first: the largest items are placed first."""
    return sorted(found, key=lambda name: (name not in asked, not names.is_gpu_resource(name), name == PODS, name))
