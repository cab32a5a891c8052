"""What `what-if` cannot tell of pods: those that claims may serve, and those that something else decides about."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from lockgate.capacity.actions import Action, Cordon, Drain
from lockgate.capacity.by_claims import by_claims, holds_claims
from lockgate.capacity.copies import place_copies
from lockgate.capacity.what_if import Fate, WhatIf
from lockgate.kit.counted import few
from lockgate.model.facts import Snapshot
from lockgate.model.objects import Pod
from lockgate.scheduling.filters import unmodelled
from lockgate.scheduling.scene import PodKey, Scene, key

_NO_CLAIMS: Final = "devices that claims hold"


def with_open(outcome: WhatIf, actions: Sequence[Action], scene: Scene, snapshot: Snapshot) -> WhatIf:
    """The outcome with pods for which no node was found as `unknown` where claims may serve them on one that stays,
    and with what is not decided about those that were placed.
    """
    pods = {key(pod): pod for pod in snapshot.known_pods}
    staying = _without_closed(scene, actions)
    doubts = {_key(f): text for f in outcome.waiting if (text := _doubt(pods[_key(f)], staying, snapshot))}
    return msgspec.structs.replace(
        outcome,
        waiting=tuple(f for f in outcome.waiting if _key(f) not in doubts),
        unknown=tuple(msgspec.structs.replace(f, reason=doubts[_key(f)]) for f in outcome.waiting if _key(f) in doubts),
        undecided=tuple(_undecided((*outcome.moved, *outcome.started), pods, scene)),
        left_out=(*outcome.left_out, *([_NO_CLAIMS] if any(map(holds_claims, pods.values())) else [])),
    )


def _without_closed(scene: Scene, actions: Iterable[Action]) -> Scene:
    closed = {action.node for action in actions if isinstance(action, Cordon | Drain)}
    return msgspec.structs.replace(scene, nodes={name: v for name, v in scene.nodes.items() if name not in closed})


def _doubt(pod: Pod, staying: Scene, snapshot: Snapshot) -> str:
    """Why it is not known that a pod waits; "" where it is."""
    free = msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=""))
    served = by_claims(free, staying, snapshot)
    if served.unread:
        return "; ".join(served.unread)
    return "; ".join(served.undecided) if place_copies(free, served.scene, 1).count else ""


def _undecided(placed: Iterable[Fate], pods: dict[PodKey, Pod], scene: Scene) -> Iterator[str]:
    """What could keep placed pods away, each once with those that it is said of."""
    found: dict[str, list[str]] = {}
    for fate in placed:
        for text in unmodelled(pods[_key(fate)], scene):
            found.setdefault(text, []).append(f"{fate.namespace}/{fate.pod}")
    yield from (f"{few(names)}: {text}" for text, names in found.items())


def _key(fate: Fate) -> PodKey:
    return fate.namespace, fate.pod
