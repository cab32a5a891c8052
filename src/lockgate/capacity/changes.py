"""Small changes that make room for a pod, each tried with the model again.

Uncordon a node, tolerate a taint, select otherwise, ask for less, move pods. A change is offered
only when more copies fit after it than before; how many is counted, not guessed.
"""

import enum
from collections.abc import Iterator
from itertools import chain

import msgspec

from lockgate.capacity.copies import copies_on, notices_itself, place_copies
from lockgate.capacity.moves import Move, Moved, least_moves
from lockgate.capacity.repartition import repartitions
from lockgate.model import names
from lockgate.model.objects import Container, Node, Pod, Taint
from lockgate.scheduling.filters import checks
from lockgate.scheduling.refusal import Refusal
from lockgate.scheduling.requests import defaulted
from lockgate.scheduling.scene import NodeView, Scene, node_view
from lockgate.scheduling.selectors import Miss
from lockgate.scheduling.taints import UNSCHEDULABLE_KEY, taint_text, toleration_for, untolerated_taints

NODES_TRIED = 50  # how many nodes, those with the fewest obstacles, are tried one by one
NODES_CLEARED = 10  # off how many of them, those that lack least, moving pods is tried


class ChangeKind(enum.StrEnum):
    """What is changed, from the lightest to the heaviest."""

    UNCORDON = "uncordon"
    TOLERATE = "tolerate"
    SELECT = "select"
    ASK_LESS = "ask-less"
    REPARTITION = "repartition"
    MOVE = "move"


class Change(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One change: in words, as a command where there is one, and how many copies fit after it (of those wanted)."""

    kind: ChangeKind
    text: str
    command: str = ""
    copies: int = 0
    moves: tuple[Move, ...] = ()


class _Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A change with the pod and the cluster as they would be; `touched` are the nodes that differ."""

    change: Change
    pod: Pod
    scene: Scene
    touched: frozenset[str] | None = None


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """The changes that help: most copies first, then the lightest; and where the search was cut short."""

    changes: tuple[Change, ...] = ()
    untried_nodes: int = 0
    cut_short: tuple[str, ...] = ()


def changes(pod: Pod, scene: Scene, wanted: int, nodes: tuple[str, ...]) -> Tried:
    """Try what could remove all that stands in the way on one of these nodes, nearest nodes first."""
    before = place_copies(pod, scene, wanted).count
    if before >= wanted:
        return Tried()
    tried: dict[str, Change] = {}
    nearest = _nearest(pod, scene, nodes)
    cut_short: list[str] = []
    light = _candidates(pod, scene, nearest[:NODES_TRIED], nodes)
    for candidate in chain(light, _moves(pod, scene, nearest, cut_short)):
        if candidate.change.text not in tried:
            count = _count(candidate, pod, scene, wanted, before)
            tried[candidate.change.text] = msgspec.structs.replace(candidate.change, copies=count)
    order = list(ChangeKind)
    helpful = (change for change in tried.values() if change.copies > before)
    found = sorted(helpful, key=lambda c: (-c.copies, order.index(c.kind), len(c.moves), c.text))
    untried = max(len(nearest) - NODES_TRIED, 0)
    return Tried(changes=tuple(found), untried_nodes=untried, cut_short=tuple(cut_short))


def _count(candidate: _Candidate, pod: Pod, scene: Scene, wanted: int, before: int) -> int:
    """Copies after the change; where copies do not notice each other only the nodes that differ are asked again."""
    if candidate.touched is None or notices_itself(pod):
        return place_copies(candidate.pod, candidate.scene, wanted).count
    was, now = copies_on(pod, scene), copies_on(candidate.pod, candidate.scene)
    gained = sum(now(candidate.scene.nodes[name]) - was(scene.nodes[name]) for name in candidate.touched)
    return min(before + gained, wanted)


def _nearest(pod: Pod, scene: Scene, nodes: tuple[str, ...]) -> list[tuple[tuple[Refusal, ...], NodeView]]:
    """The nodes that refuse the pod, those with the fewest refusals first."""
    asked = checks(pod, scene)
    views = [scene.nodes[name] for name in nodes]
    refused = [(tuple(r for check in asked if (r := check(view))), view) for view in views]
    return sorted((each for each in refused if each[0]), key=lambda each: (len(each[0]), each[1].name))


def _candidates(
    pod: Pod,
    scene: Scene,
    nearest: list[tuple[tuple[Refusal, ...], NodeView]],
    nodes: tuple[str, ...],
) -> Iterator[_Candidate]:
    for refusals, view in nearest:
        yield from _for_node(pod, scene, view, refusals)
    yield from _ask_less(pod, scene, nodes)


def _moves(
    pod: Pod, scene: Scene, nearest: list[tuple[tuple[Refusal, ...], NodeView]], cut_short: list[str]
) -> Iterator[_Candidate]:
    """Moving pods off the nodes that lack least, where nothing but room is lacking."""
    lacking = sorted((_lack(refusals), view.name) for refusals, view in nearest if _short_only(refusals))
    for _, name in lacking[:NODES_CLEARED]:
        search = least_moves(pod, scene, name)
        if search.moved:
            yield _move(pod, scene.nodes[name], search.moved)
        elif not search.complete:
            cut_short.append(name)
    if len(lacking) > NODES_CLEARED:
        cut_short.append(f"{len(lacking) - NODES_CLEARED} more nodes")


def _short_only(refusals: tuple[Refusal, ...]) -> bool:
    return all(refusal.plugin == "NodeResourcesFit" and refusal.resolvable for refusal in refusals)


def _lack(refusals: tuple[Refusal, ...]) -> tuple[int, ...]:
    """How much is short, GPUs first: the order in which nodes are worth clearing."""
    short = [shortage for refusal in refusals for shortage in refusal.shortages]
    gpus = sum(s.requested - s.headroom for s in short if names.is_gpu_resource(s.resource))
    return gpus, len(short)


def _for_node(pod: Pod, scene: Scene, view: NodeView, refusals: tuple[Refusal, ...]) -> Iterator[_Candidate]:
    """Changes of node or pod that would each remove all that stands in the way on one node."""
    plugins = {refusal.plugin for refusal in refusals}
    if plugins <= {"NodeUnschedulable", "TaintToleration"} and view.node.spec.unschedulable:
        yield _uncordon(pod, scene, view)
    if plugins == {"TaintToleration"}:
        yield _tolerate(pod, scene, view)
    if plugins == {"NodeResourcesFit"}:
        yield from _repartition(pod, scene, view, refusals[0])
    if plugins == {"NodeAffinity"} and (misses := _replaceable(pod, refusals)):
        yield _select(pod, scene, misses)


def _uncordon(pod: Pod, scene: Scene, view: NodeView) -> _Candidate:
    spec = view.node.spec
    taints = tuple(taint for taint in spec.taints if taint.key != UNSCHEDULABLE_KEY)
    opened = msgspec.structs.replace(spec, unschedulable=False, taints=taints)
    node: Node = msgspec.structs.replace(view.node, spec=opened)
    change = Change(
        kind=ChangeKind.UNCORDON, text=f"uncordon node {view.name}", command=f"kubectl uncordon {view.name}"
    )
    after = scene.with_node(node_view(node, view.pods))
    return _Candidate(change=change, pod=pod, scene=after, touched=frozenset((view.name,)))


def _tolerate(pod: Pod, scene: Scene, view: NodeView) -> _Candidate:
    taints: tuple[Taint, ...] = untolerated_taints(view.node.spec.taints, pod.spec.tolerations)
    tolerations = (*pod.spec.tolerations, *map(toleration_for, taints))
    change = Change(kind=ChangeKind.TOLERATE, text=f"let the pod tolerate {', '.join(map(taint_text, taints))}")
    return _Candidate(change=change, pod=_with_spec(pod, tolerations=tolerations), scene=scene)


def _repartition(pod: Pod, scene: Scene, view: NodeView, refusal: Refusal) -> Iterator[_Candidate]:
    """Where a GPU resource is all that is short, another MIG configuration of an idle node."""
    short = [shortage.resource for shortage in refusal.shortages]
    if len(short) != 1 or not names.is_gpu_resource(short[0]):
        return
    for found in repartitions(view, short[0]):
        change = Change(
            kind=ChangeKind.REPARTITION,
            text=f"re-partition {view.name} as {found.config} (each GPU becomes {found.each})",
            command=f"kubectl label node {view.name} {names.MIG_CONFIG}={found.config} --overwrite",
        )
        after = scene.with_node(found.after)
        yield _Candidate(change=change, pod=pod, scene=after, touched=frozenset((view.name,)))


def _replaceable(pod: Pod, refusals: tuple[Refusal, ...]) -> tuple[Miss, ...]:
    """The misses of a node when all of them are pairs of nodeSelector for which the node has another value."""
    misses = refusals[0].misses
    plain = all(miss.seen is not None and miss.key in pod.spec.node_selector for miss in misses)
    return misses if plain else ()


def _select(pod: Pod, scene: Scene, misses: tuple[Miss, ...]) -> _Candidate:
    instead = {miss.key: miss.seen or "" for miss in misses}
    texts = ", ".join(f"{miss.key}={miss.seen} instead of {pod.spec.node_selector[miss.key]}" for miss in misses)
    selector = {**pod.spec.node_selector, **instead}
    change = Change(kind=ChangeKind.SELECT, text=f"select {texts}")
    return _Candidate(change=change, pod=_with_spec(pod, node_selector=selector), scene=scene)


def _move(pod: Pod, view: NodeView, moved: Moved) -> _Candidate:
    listed = ", ".join(f"{move.namespace}/{move.pod} to {move.target}" for move in moved.moves)
    change = Change(kind=ChangeKind.MOVE, text=f"move off {view.name}: {listed}", moves=moved.moves)
    touched = frozenset((view.name, *(move.target for move in moved.moves)))
    return _Candidate(change=change, pod=pod, scene=moved.after, touched=touched)


def _ask_less(pod: Pod, scene: Scene, nodes: tuple[str, ...]) -> Iterator[_Candidate]:
    """Ask for as many of the GPU resource as the emptiest node has, where one container asks for all of it."""
    asking = [c for c in defaulted(pod.spec).containers if any(map(names.is_gpu_resource, c.resources.requests))]
    if len(asking) != 1:
        return
    for resource in filter(names.is_gpu_resource, asking[0].resources.requests):
        wanted = int(str(asking[0].resources.requests[resource]))
        largest = max((scene.nodes[name].room.headroom(resource) for name in nodes), default=0)
        for count in range(min(largest, wanted - 1), 0, -1):
            smaller = _asking(pod, asking[0], resource, count)
            if place_copies(smaller, scene, 1).count:
                text = f"ask for {count} {resource} instead of {wanted}"
                yield _Candidate(change=Change(kind=ChangeKind.ASK_LESS, text=text), pod=smaller, scene=scene)
                break


def _asking(pod: Pod, container: Container, resource: str, count: int) -> Pod:
    was, less = container.resources, {resource: count}
    resources = msgspec.structs.replace(was, requests={**was.requests, **less}, limits={**was.limits, **less})
    changed = msgspec.structs.replace(container, resources=resources)
    containers = tuple(changed if each.name == container.name else each for each in pod.spec.containers)
    return _with_spec(pod, containers=containers)


def _with_spec(pod: Pod, **fields: object) -> Pod:
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, **fields))
