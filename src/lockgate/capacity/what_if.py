"""Before and after some actions: what capacity becomes, who must move and where to, who would wait, who could start."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from lockgate.capacity.actions import Action, ActionError, Effect, MigConfig, apply
from lockgate.capacity.cluster_puzzle import unbound
from lockgate.capacity.demand import gpu_requests
from lockgate.capacity.node_capacity import NodeCapacity, gpu_nodes
from lockgate.capacity.shared import Shared, shared
from lockgate.capacity.table import Row, total
from lockgate.model.objects import Pod
from lockgate.scheduling.budgets import Budgets, allowed, guarding
from lockgate.scheduling.filters import checks, first
from lockgate.scheduling.node_fit import is_terminal
from lockgate.scheduling.requests import pod_requests
from lockgate.scheduling.scene import PodKey, Scene, key


class Fate(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What becomes of a pod: `source` is the node it leaves ("" for one that waits), `target` where it could go.

    `reason` says why one stays that should leave.
    """

    namespace: str
    pod: str
    source: str = ""
    target: str = ""
    reason: str = ""


class WhatIf(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The outcome. `moved` find a new node, `waiting` would find none, `lost` are made by nobody again.

    `started` are pods that wait now and would then have a place; `kept` may not be evicted: the action does not end.
    Of `unknown` ones nobody knows whether they would wait; `undecided` could keep away some that were placed.
    `shared` says what slots are worth that would share a GPU and do not now.
    """

    before: tuple[Row, ...]
    after: tuple[Row, ...]
    moved: tuple[Fate, ...]
    waiting: tuple[Fate, ...]
    lost: tuple[Fate, ...]
    kept: tuple[Fate, ...]
    started: tuple[Fate, ...]
    shared: tuple[Shared, ...]
    left_out: tuple[str, ...]
    unknown: tuple[Fate, ...] = ()
    undecided: tuple[str, ...] = ()


LEFT_OUT = (
    "preemption by priority",
    "which of several nodes the scheduler prefers: pods are placed on the fullest that takes them",
)
UNREAD_BUDGETS = "pod disruption budgets, which were not read"


def what_if(actions: Sequence[Action], scene: Scene, pods: Iterable[Pod]) -> WhatIf:
    """Think the actions through in their order; `pods` holds those that wait. Raises actions.ActionError."""
    taken, pending = _taken(actions, scene), _pending(pods)
    placed, after = _place_all(taken.displaced, taken.scene)
    stuck = _stuck(taken.displaced, placed, scene.budgets or {})
    after = _stay(stuck, after, _reconfigured(actions))
    started, after = _place_all(pending, after)
    already = {_key(fate) for fate in _place_all(pending, scene)[0] if fate.target}
    staying = {key(pod) for pod, _ in stuck}
    now, then = gpu_nodes(scene, {}), gpu_nodes(after, {})
    return WhatIf(
        before=total(now),
        after=total(then),
        moved=tuple(fate for fate in placed if fate.target),
        waiting=tuple(fate for fate in placed if not fate.target and _key(fate) not in staying),
        lost=tuple(map(_fate, taken.lost)),
        kept=tuple(_fate(pod, reason) for pod, reason in (*taken.kept, *stuck)),
        started=tuple(fate for fate in started if fate.target and _key(fate) not in already),
        shared=tuple(_newly_shared(now, then)),
        left_out=LEFT_OUT if scene.budgets is not None else (*LEFT_OUT, UNREAD_BUDGETS),
    )


def _newly_shared(now: Iterable[NodeCapacity], then: Iterable[NodeCapacity]) -> Iterator[Shared]:
    """Kinds of sharing with the nodes that come to them."""
    known = {(each.resource, each.text, node) for each in shared(now) for node in each.nodes}
    for each in shared(then):
        nodes = tuple(node for node in each.nodes if (each.resource, each.text, node) not in known)
        if nodes:
            yield msgspec.structs.replace(each, nodes=nodes)


def of_namespace(outcome: WhatIf, namespace: str) -> WhatIf:
    """Only the pods of a namespace and how many others there are, capacity as it is for all; everything for ""."""
    if not namespace:
        return outcome
    lists = {name: getattr(outcome, name) for name in ("moved", "waiting", "lost", "kept", "started", "unknown")}
    own = {name: tuple(f for f in fates if f.namespace == namespace) for name, fates in lists.items()}
    others = sum(len(fates) - len(own[name]) for name, fates in lists.items())
    said = (f"pods of other namespaces, whose fate counts all the same ({others})",) if others else ()
    return msgspec.structs.replace(outcome, **own, left_out=(*outcome.left_out, *said))


def _taken(actions: Iterable[Action], scene: Scene) -> Effect:
    """The effect of all actions together, each on the scene that those before it leave."""
    so_far = Effect(scene=scene)
    for action in actions:
        effect = apply(action, so_far.scene)
        so_far = Effect(
            scene=effect.scene,
            displaced=(*so_far.displaced, *effect.displaced),
            lost=(*so_far.lost, *effect.lost),
            kept=(*so_far.kept, *effect.kept),
        )
    return so_far


def _stuck(displaced: Iterable[Pod], placed: Iterable[Fate], budgets: Budgets) -> list[tuple[Pod, str]]:
    """Pods that a budget lets nobody evict, since too many of their kind wait already, and why.

    An eviction takes from a budget until the pod is well again elsewhere: one that finds no place takes for good.
    """
    homeless = {_key(fate) for fate in placed if not fate.target}
    taken: dict[tuple[str, str], int] = {}
    stuck = []
    for pod in displaced:
        for guard in guarding(pod, budgets) if key(pod) in homeless else ():
            name = (guard.namespace, guard.name)
            taken[name] = taken.get(name, 0) + 1
            if taken[name] > allowed(guard):
                stuck.append((pod, f"PodDisruptionBudget {guard.name} allows {allowed(guard)}, and no node takes more"))
    return stuck


def _stay(stuck: list[tuple[Pod, str]], scene: Scene, reconfigured: frozenset[str]) -> Scene:
    """The scene with these pods where they were."""
    for pod, reason in stuck:
        node = pod.spec.node_name
        if node in reconfigured:
            raise ActionError(f"node {node} cannot be re-partitioned: {pod.namespace}/{pod.name} stays ({reason})")
        scene = scene.with_pod(pod, node)
    return scene


def _reconfigured(actions: Iterable[Action]) -> frozenset[str]:
    return frozenset(action.node for action in actions if isinstance(action, MigConfig))


def _place_all(pods: Iterable[Pod], scene: Scene) -> tuple[list[Fate], Scene]:
    """Place pods one after another, higher priority and larger ones first, each on the fullest node that takes it."""
    fates = []
    for pod in sorted(pods, key=_urgency):
        free = unbound(pod)
        target = _fullest(free, scene)
        if target:
            scene = scene.with_pod(free, target)
        fates.append(msgspec.structs.replace(_fate(pod), target=target))
    return fates, scene


def _fullest(pod: Pod, scene: Scene) -> str:
    """The node with the least headroom for what the pod asks, GPUs first; "" when none takes it."""
    asked = checks(pod, scene)
    wanted = sorted(gpu_requests(pod)) or sorted(pod_requests(pod))
    fitting = [view for view in scene.nodes.values() if first(asked, view) is None]
    best = min(fitting, key=lambda view: ([view.room.headroom(name) for name in wanted], view.name), default=None)
    return best.name if best else ""


def _urgency(pod: Pod) -> tuple[int, int, str, str]:
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


def _fate(pod: Pod, reason: str = "") -> Fate:
    return Fate(namespace=pod.namespace, pod=pod.name, source=pod.spec.node_name, reason=reason)


def _key(fate: Fate) -> PodKey:
    return fate.namespace, fate.pod
