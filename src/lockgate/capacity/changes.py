"""Small changes that make room for a pod, each tried with the model again.

Uncordon a node, tolerate a taint, select otherwise, ask for less, re-partition, move pods; and as few nodes changed
together as are enough. A change is offered only when more copies fit after it than before; how many is counted.
"""

import enum
from collections.abc import Iterator, Mapping

import msgspec

from lockgate.capacity.copies import copies_on, notices_itself, place_copies
from lockgate.capacity.eviction import Why
from lockgate.capacity.moves import Move, Search, least_moves
from lockgate.capacity.preempted import Preempted, preempted
from lockgate.capacity.repartition import repartitions
from lockgate.model import names
from lockgate.model.objects import Container, Node, Pod, Taint
from lockgate.scheduling.filters import checks
from lockgate.scheduling.refusal import Refusal
from lockgate.scheduling.requests import defaulted, pod_requests
from lockgate.scheduling.scene import NodeView, Scene, node_view
from lockgate.scheduling.selectors import Miss
from lockgate.scheduling.taints import UNSCHEDULABLE_KEY, taint_text, toleration_for, untolerated_taints

NODES_TRIED = 50  # how many nodes, those with the fewest obstacles, are tried one by one


class ChangeKind(enum.StrEnum):
    """What is changed, from the lightest to the heaviest; `preempt` is what the scheduler does unasked."""

    PREEMPT = "preempt"
    UNCORDON = "uncordon"
    TOLERATE = "tolerate"
    SELECT = "select"
    ASK_LESS = "ask-less"
    REPARTITION = "repartition"
    MOVE = "move"
    TOGETHER = "together"


class Change(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One change: in words, as a command where there is one, and how many copies fit after it (of those wanted).

    Of moves it is said whether they are proven to be the fewest.
    """

    kind: ChangeKind
    text: str
    command: str = ""
    copies: int = 0
    moves: tuple[Move, ...] = ()
    fewest: bool = False


class _Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A change with the pod and the cluster as they would be; `touched` are the nodes that differ."""

    change: Change
    pod: Pod
    scene: Scene
    touched: frozenset[str] | None = None


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """The changes that help: most copies first, then the lightest; and where the search was cut short.

    `held` counts pods that were not moved, by the reason.
    """

    changes: tuple[Change, ...] = ()
    untried_nodes: int = 0
    note: str = ""
    held: Mapping[Why, int] = {}


def changes(pod: Pod, scene: Scene, wanted: int, nodes: tuple[str, ...]) -> Tried:
    """Try what could remove all that stands in the way on one of these nodes, nearest nodes first."""
    before = place_copies(pod, scene, wanted).count
    if before >= wanted:
        return Tried()
    nearest = _nearest(pod, scene, nodes)
    light = _helpful(_candidates(pod, scene, nearest[:NODES_TRIED], nodes), pod, scene, wanted, before)
    search = least_moves(pod, scene, wanted)
    evicting = _preempted(preempted(pod, scene, wanted), before)
    found = [*evicting, *(each.change for each in light), *_moved(search), *_together(light, pod, scene, wanted)]
    return Tried(
        changes=tuple(sorted(found, key=_weight)),
        untried_nodes=max(len(nearest) - NODES_TRIED, 0),
        note=search.note,
        held=search.held,
    )


def _helpful(
    candidates: Iterator[_Candidate], pod: Pod, scene: Scene, wanted: int, before: int
) -> tuple[_Candidate, ...]:
    """The candidates after which more copies fit, each once, with that number."""
    tried = {}
    for candidate in candidates:
        if candidate.change.text not in tried:
            count = _count(candidate, pod, scene, wanted, before)
            change = msgspec.structs.replace(candidate.change, copies=count)
            tried[change.text] = msgspec.structs.replace(candidate, change=change)
    return tuple(each for each in tried.values() if each.change.copies > before)


def _weight(change: Change) -> tuple[int, int, int, str]:
    return -change.copies, list(ChangeKind).index(change.kind), len(change.moves), change.text


def _preempted(found: Preempted, before: int) -> Iterator[Change]:
    if found.copies <= before:
        return
    listed = "; ".join(
        f"{', '.join(f'{victim.namespace}/{victim.name}' for victim in each.victims)} on {each.node}"
        for each in found.evictions
    )
    number = sum(len(each.victims) for each in found.evictions)
    who = "a pod" if number == 1 else f"{number} pods"
    drawn = ", or as many elsewhere" if found.draws else ""
    text = f"nothing to do: the scheduler evicts {who} of lower priority: {listed}{drawn}"
    yield Change(kind=ChangeKind.PREEMPT, text=text, copies=found.copies)


def _moved(search: Search) -> Iterator[Change]:
    if search.found is None:
        return
    found, count = search.found, len(search.found.moves)
    listed = "; ".join(
        f"{m.namespace}/{m.pod} from {m.source} to {m.target}{f' ({m.loses})' if m.loses else ''}" for m in found.moves
    )
    proof = "no fewer would do" if found.fewest else f"at least {found.least} are needed" if found.least > 1 else ""
    many = "a pod" if count == 1 else f"{count} pods"
    yield Change(
        kind=ChangeKind.MOVE,
        text=f"move {many}{f' ({proof})' if proof and count > 1 else ''}: {listed}",
        command=_evicting(found.moves),
        copies=found.copies,
        moves=found.moves,
        fewest=found.fewest,
    )


def _evicting(moves: tuple[Move, ...]) -> str:
    """Commands that keep the pods from coming back to where they were; none where a node both gives and takes."""
    sources = sorted({move.source for move in moves})
    if {move.target for move in moves} & set(sources):
        return ""
    by_namespace: dict[str, list[str]] = {}
    for move in moves:
        by_namespace.setdefault(move.namespace, []).append(move.pod)
    deleting = [f"kubectl delete pod -n {namespace} {' '.join(pods)}" for namespace, pods in by_namespace.items()]
    nodes = " ".join(sources)
    return "\n".join([f"kubectl cordon {nodes}", *deleting, f"kubectl uncordon {nodes}"])


def _together(light: tuple[_Candidate, ...], pod: Pod, scene: Scene, wanted: int) -> Iterator[Change]:
    """Where no change is enough alone: changes of several nodes, those that bring most first, and then moves."""
    of_nodes = [each for each in light if each.touched is not None and len(each.touched) == 1]
    enough = any(each.change.copies >= wanted for each in light if each.change.kind is not ChangeKind.ASK_LESS)
    if enough or notices_itself(pod):
        return
    taken: dict[str, Change] = {}
    for each in sorted(of_nodes, key=lambda each: _weight(each.change)):
        (name,) = each.touched or ("",)
        if name not in taken:
            taken[name] = each.change
            scene = scene.with_node(each.scene.nodes[name])
            if (count := place_copies(pod, scene, wanted).count) >= wanted:
                yield _joined(tuple(taken.values()), count)
                return
    moved = next(_moved(least_moves(pod, scene, wanted)), None) if taken else None
    if moved is not None and moved.copies >= wanted:
        yield _joined((*taken.values(), moved), moved.copies)


def _joined(parts: tuple[Change, ...], copies: int) -> Change:
    return Change(
        kind=ChangeKind.TOGETHER,
        text=" and ".join(part.text for part in parts),
        command="\n".join(part.command for part in parts if part.command),
        copies=copies,
        moves=parts[-1].moves,
        fewest=parts[-1].fewest,
    )


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
    """Where GPU resources are all that is short, that MIG configuration of an idle node which takes most copies."""
    if not all(names.is_gpu_resource(shortage.resource) for shortage in refusal.shortages):
        return
    asked = [name for name in pod_requests(pod) if names.is_gpu_resource(name)]
    takes = copies_on(pod, scene)
    found = max(repartitions(view, asked), key=lambda each: takes(each.after), default=None)
    if found is not None:
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
