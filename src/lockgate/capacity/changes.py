"""Small changes that make room for a pod, each tried with the model again.

Uncordon a node, tolerate a taint, select otherwise, ask for less, re-partition, move pods; and as few nodes changed
together as are enough. A change is offered only when more copies fit after it than before; how many is counted.
"""

from collections.abc import Iterator, Mapping

import msgspec

from lockgate.capacity.candidates import candidates, nearest
from lockgate.capacity.change import Candidate, Change, ChangeKind
from lockgate.capacity.copies import copies_on, notices_itself, place_copies
from lockgate.capacity.eviction import Why
from lockgate.capacity.moves import Move, Search, least_moves
from lockgate.capacity.preempted import Preempted, preempted
from lockgate.model.objects import Pod
from lockgate.scheduling.scene import Scene

NODES_TRIED = 50  # how many nodes, those with the fewest obstacles, are tried one by one


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
    near = nearest(pod, scene, nodes)
    light = _helpful(candidates(pod, scene, near[:NODES_TRIED], nodes), pod, scene, wanted, before)
    search = least_moves(pod, scene, wanted)
    evicting = _preempted(preempted(pod, scene, wanted), before)
    found = [*evicting, *(each.change for each in light), *_moved(search), *_together(light, pod, scene, wanted)]
    return Tried(
        changes=tuple(sorted(found, key=_weight)),
        untried_nodes=max(len(near) - NODES_TRIED, 0),
        note=search.note,
        held=search.held,
    )


def _helpful(offered: Iterator[Candidate], pod: Pod, scene: Scene, wanted: int, before: int) -> tuple[Candidate, ...]:
    """The candidates after which more copies fit, each once, with that number."""
    tried = {}
    for candidate in offered:
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


def _together(light: tuple[Candidate, ...], pod: Pod, scene: Scene, wanted: int) -> Iterator[Change]:
    """Where no change is enough alone: changes of several nodes, those that bring most first, and then moves."""
    of_nodes = [each for each in light if each.touched is not None and len(each.touched) == 1]
    enough = any(each.change.copies >= wanted for each in light if each.change.kind is not ChangeKind.ASK_LESS)
    if enough or notices_itself(pod):
        return
    now, taken = place_copies(pod, scene, wanted).count, dict[str, Candidate]()
    for each in sorted(of_nodes, key=lambda each: _weight(each.change)):
        (name,) = each.touched or ("",)
        if _gained(taken, now) < wanted - now:
            taken.setdefault(name, each)
    for name, each in taken.items():
        scene = scene.with_node(each.scene.nodes[name])
    parts = tuple(each.change for each in taken.values())
    if parts and (count := place_copies(pod, scene, wanted).count) >= wanted:
        yield _joined(parts, count)
    elif parts and (moved := next(_moved(least_moves(pod, scene, wanted)), None)) and moved.copies >= wanted:
        yield _joined((*parts, moved), moved.copies)


def _gained(taken: Mapping[str, Candidate], now: int) -> int:
    """Copies that these changes bring together: those of different nodes add up."""
    return sum(each.change.copies - now for each in taken.values())


def _joined(parts: tuple[Change, ...], copies: int) -> Change:
    return Change(
        kind=ChangeKind.TOGETHER,
        text=" and ".join(part.text for part in parts),
        command="\n".join(part.command for part in parts if part.command),
        copies=copies,
        moves=parts[-1].moves,
        fewest=parts[-1].fewest,
    )


def _count(candidate: Candidate, pod: Pod, scene: Scene, wanted: int, before: int) -> int:
    """Copies after the change; where copies do not notice each other only the nodes that differ are asked again."""
    if candidate.touched is None or notices_itself(pod):
        return place_copies(candidate.pod, candidate.scene, wanted).count
    was, now = copies_on(pod, scene), copies_on(candidate.pod, candidate.scene)
    gained = sum(now(candidate.scene.nodes[name]) - was(scene.nodes[name]) for name in candidate.touched)
    return min(before + gained, wanted)
