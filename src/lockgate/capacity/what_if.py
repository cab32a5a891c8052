"""Before and after some actions: what capacity becomes, who must move and where to, who would wait, who could start."""

from collections.abc import Iterable, Sequence

import msgspec

from lockgate.capacity.actions import Action, apply
from lockgate.capacity.demand import gpu_requests
from lockgate.capacity.node_capacity import gpu_nodes
from lockgate.capacity.table import Row, total
from lockgate.model.objects import Pod
from lockgate.scheduling.filters import checks, first
from lockgate.scheduling.node_fit import is_terminal
from lockgate.scheduling.requests import pod_requests
from lockgate.scheduling.scene import Scene


class Fate(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What becomes of a pod: `source` is the node it leaves ("" for one that waits), `target` where it could go."""

    namespace: str
    pod: str
    source: str = ""
    target: str = ""


class WhatIf(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The outcome. `moved` find a new node, `waiting` would find none, `lost` are made by nobody again.

    `started` are pods that wait now and would then have a place; `kept` are marked as not to be evicted.
    """

    before: tuple[Row, ...]
    after: tuple[Row, ...]
    moved: tuple[Fate, ...]
    waiting: tuple[Fate, ...]
    lost: tuple[Fate, ...]
    kept: tuple[Fate, ...]
    started: tuple[Fate, ...]
    left_out: tuple[str, ...]


LEFT_OUT = (
    "pod disruption budgets",
    "preemption by priority",
    "which of several nodes the scheduler prefers: pods are placed on the fullest that takes them",
)


def what_if(actions: Sequence[Action], scene: Scene, pods: Iterable[Pod]) -> WhatIf:
    """Think the actions through in their order; `pods` holds those that wait. Raises actions.ActionError."""
    before, pending = scene, [(pod, "") for pod in _pending(pods)]
    displaced: list[tuple[Pod, str]] = []
    lost: list[Fate] = []
    kept: list[Fate] = []
    for action in actions:
        effect = apply(action, scene)
        scene = effect.scene
        displaced += [(pod, pod.spec.node_name) for pod in effect.displaced]
        lost += map(_fate, effect.lost)
        kept += map(_fate, effect.kept)
    placed, scene = _place_all([(_free(pod), source) for pod, source in displaced], scene)
    started, scene = _place_all(pending, scene)
    now, _ = _place_all(pending, before)
    already = {(fate.namespace, fate.pod) for fate in now if fate.target}
    return WhatIf(
        before=total(gpu_nodes(before, {})),
        after=total(gpu_nodes(scene, {})),
        moved=tuple(fate for fate in placed if fate.target),
        waiting=tuple(fate for fate in placed if not fate.target),
        lost=tuple(lost),
        kept=tuple(kept),
        started=tuple(f for f in started if f.target and (f.namespace, f.pod) not in already),
        left_out=LEFT_OUT,
    )


def _place_all(pods: list[tuple[Pod, str]], scene: Scene) -> tuple[list[Fate], Scene]:
    """Place pods one after another, higher priority and larger ones first, each on the fullest node that takes it."""
    fates = []
    for pod, source in sorted(pods, key=_urgency):
        target = _fullest(pod, scene)
        if target:
            scene = scene.with_pod(pod, target)
        fates.append(Fate(namespace=pod.namespace, pod=pod.name, source=source, target=target))
    return fates, scene


def _fullest(pod: Pod, scene: Scene) -> str:
    """The node with the least headroom for what the pod asks, GPUs first; "" when none takes it."""
    asked = checks(pod, scene)
    wanted = sorted(gpu_requests(pod)) or sorted(pod_requests(pod))
    fitting = [view for view in scene.nodes.values() if first(asked, view) is None]
    best = min(fitting, key=lambda view: ([view.room.headroom(name) for name in wanted], view.name), default=None)
    return best.name if best else ""


def _urgency(each: tuple[Pod, str]) -> tuple[int, int, str, str]:
    pod = each[0]
    return -(pod.spec.priority or 0), -sum(gpu_requests(pod).values()), pod.namespace, pod.name


def _pending(pods: Iterable[Pod]) -> list[Pod]:
    """GPU pods that the scheduler would place if it could: not gated, not finished, not going away."""
    return [
        pod
        for pod in pods
        if not pod.spec.node_name
        and not is_terminal(pod)
        and not pod.spec.scheduling_gates
        and pod.metadata.deletion_timestamp is None
        and gpu_requests(pod)
    ]


def _free(pod: Pod) -> Pod:
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=""))


def _fate(pod: Pod) -> Fate:
    return Fate(namespace=pod.namespace, pod=pod.name, source=pod.spec.node_name)
