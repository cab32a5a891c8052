"""What stands in the way on each node, counted and named: one line for each reason, with the nodes that have it."""

from collections.abc import Iterable

import msgspec

from lockgate.model.objects import Pod
from lockgate.scheduling.filters import checks
from lockgate.scheduling.node_fit import Shortage
from lockgate.scheduling.refusal import Refusal
from lockgate.scheduling.requests import CPU, PODS
from lockgate.scheduling.scene import Scene
from lockgate.scheduling.selectors import Miss
from lockgate.scheduling.taints import NO_SCHEDULE, UNSCHEDULABLE_KEY

_CORDON = "cordoned"
_CORDON_TAINT = f"taint {UNSCHEDULABLE_KEY}:{NO_SCHEDULE} is not tolerated"


class Blocker(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One reason. `alone` are those of `nodes` on which nothing else stands in the way."""

    text: str
    nodes: tuple[str, ...]
    alone: tuple[str, ...]


def blockers(pod: Pod, scene: Scene, nodes: Iterable[str]) -> tuple[Blocker, ...]:
    """Every reason on these nodes, not the scheduler's first one alone; most frequent first."""
    asked = checks(pod, scene)
    found: dict[str, list[str]] = {}
    alone: dict[str, list[str]] = {}
    for name in sorted(nodes):
        texts = reasons([refusal for check in asked if (refusal := check(scene.nodes[name]))])
        for text in texts:
            found.setdefault(text, []).append(name)
        if len(texts) == 1:
            alone.setdefault(texts[0], []).append(name)
    ordered = sorted(found, key=lambda text: (-len(found[text]), text))
    return tuple(Blocker(text=t, nodes=tuple(found[t]), alone=tuple(alone.get(t, ()))) for t in ordered)


def reasons(refusals: Iterable[Refusal]) -> tuple[str, ...]:
    """The refusals of one node in words for a person, each with the value that the scheduler's words leave out.

    A cordon is said once: the node controller writes a taint for it, which goes with it.
    """
    texts = dict.fromkeys(text for refusal in refusals for text in _texts(refusal))
    return tuple(text for text in texts if not (text == _CORDON_TAINT and _CORDON in texts))


def shortage_text(shortage: Shortage) -> str:
    """One short resource: what is asked, what is left; the same text for nodes with the same numbers."""
    if shortage.resource == PODS:
        return f"pod limit reached ({shortage.used} of {shortage.allocatable})"
    unit = "m" if shortage.resource == CPU else ""
    asked, left = f"{shortage.requested}{unit}", f"{max(shortage.headroom, 0)}{unit}"
    if shortage.allocatable == 0:
        return f"no {shortage.resource} there ({asked} asked)"
    return f"{shortage.resource}: {asked} asked, {left} left of {shortage.allocatable}{unit}"


def _texts(refusal: Refusal) -> tuple[str, ...]:
    if refusal.plugin == "NodeUnschedulable":
        return (_CORDON,)
    if refusal.taints:
        return tuple(map(_taint_text, refusal.taints))
    if refusal.shortages:
        return tuple(map(shortage_text, refusal.shortages))
    if refusal.misses:
        return tuple(map(_miss_text, refusal.misses))
    return refusal.reasons


def _taint_text(taint: str) -> str:
    return f"taint {taint} is not tolerated"


def _miss_text(miss: Miss) -> str:
    return f"{miss.wanted} wanted, {'the label is absent' if miss.seen is None else f'it has {miss.seen}'}"
