"""What a person may think of doing to a cluster, each as a value, and what it makes of the scene; only thoughts."""

from collections.abc import Iterable
from typing import TypeAlias

import msgspec

from lockgate.capacity.demand import gpu_requests
from lockgate.capacity.eviction import Hold, Why, hold_of
from lockgate.capacity.repartition import reconfigured
from lockgate.capacity.slots import label_prefix, number
from lockgate.kit.counted import counted
from lockgate.kit.quantity import whole
from lockgate.model import names
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.scene import NodeView, Scene, key, node_view


class ActionError(ValueError):
    """An action that cannot be thought through; the text says why and what would be possible."""


class Cordon(msgspec.Struct, frozen=True):
    """No new pods come to the node; those there stay."""

    node: str


class Uncordon(msgspec.Struct, frozen=True):
    """New pods may come again."""

    node: str


class Drain(msgspec.Struct, frozen=True):
    """Cordon, then evict what may be evicted."""

    node: str


class Replicas(msgspec.Struct, frozen=True):
    """Time-slicing with so many slots a GPU; 1 ends it. Pods there stay, each with the slots that it holds."""

    node: str
    count: int


class MigConfig(msgspec.Struct, frozen=True):
    """Another MIG configuration (`all-<profile>` or `all-disabled`); the node's GPU pods have to leave first."""

    node: str
    config: str


class LoseGpus(msgspec.Struct, frozen=True):
    """So many GPUs of a node become unhealthy: allocatable shrinks, capacity stays."""

    node: str
    count: int = 1


class AddNode(msgspec.Struct, frozen=True):
    """One more node like that of this product which has most whole GPUs, empty and open."""

    product: str


Action: TypeAlias = Cordon | Uncordon | Drain | Replicas | MigConfig | LoseGpus | AddNode


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """The scene afterwards; `displaced` pods look for a new node, `lost` ones nobody makes again, `kept` ones stay.

    With a kept pod comes why it stays.
    """

    scene: Scene
    displaced: tuple[Pod, ...] = ()
    lost: tuple[Pod, ...] = ()
    kept: tuple[tuple[Pod, str], ...] = ()


def apply(action: Action, scene: Scene) -> Effect:
    """Think one action through; raises ActionError when the scene lacks what it names."""
    match action:
        case AddNode():
            return Effect(scene=scene.with_node(_new_node(action.product, scene)))
        case Cordon() | Uncordon():
            return Effect(scene=_cordoned(scene, action.node, isinstance(action, Cordon)))
        case Drain():
            return _evicted(_cordoned(scene, action.node, True), action.node, _view(scene, action.node).pods)
        case Replicas():
            return Effect(scene=scene.with_node(_sliced(_view(scene, action.node), action.count)))
        case LoseGpus():
            return Effect(scene=scene.with_node(_shrunk(_view(scene, action.node), action.count)))
        case MigConfig():
            return _reconfigured(scene, action)


def _view(scene: Scene, name: str) -> NodeView:
    if name not in scene.nodes:
        raise ActionError(f'there is no node "{name}"')
    return scene.nodes[name]


def _cordoned(scene: Scene, name: str, unschedulable: bool) -> Scene:
    view = _view(scene, name)
    spec = msgspec.structs.replace(view.node.spec, unschedulable=unschedulable)
    return scene.with_node(node_view(msgspec.structs.replace(view.node, spec=spec), view.pods))


def _evicted(scene: Scene, name: str, pods: Iterable[Pod]) -> Effect:
    """Pods of DaemonSets and static pods stay without a word, as `kubectl drain` leaves them; others are said."""
    held = [(pod, hold_of(pod, scene.budgets)) for pod in pods]
    gone = [(pod, hold) for pod, hold in held if hold is None or hold.why in _GO]
    return Effect(
        scene=scene.without_pods(name, (key(pod) for pod, _ in gone)),
        displaced=tuple(pod for pod, hold in gone if hold is None),
        lost=tuple(pod for pod, hold in gone if hold is not None and hold.why is Why.BARE),
        kept=tuple((pod, hold.text) for pod, hold in held if hold is not None and _is_kept(hold)),
    )


# An eviction ends them, though no controller makes them again, or they are ending already.
_GO = frozenset((Why.BARE, Why.LEAVING))


def _is_kept(hold: Hold) -> bool:
    return hold.why not in _GO and hold.why is not Why.OF_ITS_NODE


def _sliced(view: NodeView, replicas: int) -> NodeView:
    labels, status = view.node.metadata.labels, view.node.status
    resource = next((name for name in sorted(status.capacity) if names.is_whole_gpu(name)), "")
    if not resource:
        raise ActionError(f"node {view.name} advertises no {names.GPU}: there is nothing to slice")
    prefix = label_prefix(resource)
    was = max(number(labels, f"{prefix}.replicas") or 1, 1)
    strategy = "time-slicing" if replicas > 1 else "none"
    sliced = {**labels, f"{prefix}.replicas": str(replicas), f"{prefix}.sharing-strategy": strategy}
    status = msgspec.structs.replace(
        status,
        capacity=status.capacity | {resource: str(_slots(status.capacity, resource) // was * replicas)},
        allocatable=status.allocatable | {resource: str(_slots(status.allocatable, resource) // was * replicas)},
    )
    metadata = msgspec.structs.replace(view.node.metadata, labels=sliced)
    return node_view(msgspec.structs.replace(view.node, metadata=metadata, status=status), view.pods)


def _shrunk(view: NodeView, count: int) -> NodeView:
    labels, status = view.node.metadata.labels, view.node.status
    resource = next((n for n in sorted(status.allocatable) if names.is_whole_gpu(n)), "")
    each = max(number(labels, f"{label_prefix(resource)}.replicas") or 1, 1)
    left = _slots(status.allocatable, resource) - count * each
    if not resource or left < 0:
        raise ActionError(f"node {view.name} has fewer than {counted(count, 'healthy GPU')}")
    smaller = msgspec.structs.replace(status, allocatable=status.allocatable | {resource: str(left)})
    return node_view(msgspec.structs.replace(view.node, status=smaller), view.pods)


def _slots(quantities: dict[str, str], resource: str) -> int:
    return whole(quantities.get(resource, "0"))


def _reconfigured(scene: Scene, action: MigConfig) -> Effect:
    view = _view(scene, action.node)
    effect = _evicted(scene, view.name, [pod for pod in view.pods if gpu_requests(pod)])
    left = effect.scene.nodes[view.name]
    if staying := [pod for pod in left.pods if gpu_requests(pod)]:
        raise ActionError(f"node {view.name} cannot be re-partitioned while {_named(staying, scene)} cannot leave it")
    after = reconfigured(left, action.config)
    if isinstance(after, str):
        raise ActionError(f'node {view.name} cannot become "{action.config}": {after}')
    return msgspec.structs.replace(effect, scene=effect.scene.with_node(after))


def _named(pods: Iterable[Pod], scene: Scene) -> str:
    held = ((pod, hold_of(pod, scene.budgets)) for pod in pods)
    return ", ".join(f"{pod.namespace}/{pod.name} ({hold.text if hold else ''})" for pod, hold in held)


def _new_node(product: str, scene: Scene) -> NodeView:
    known = sorted({v.node.metadata.labels.get(names.GPU_PRODUCT, "") for v in scene.nodes.values()} - {""})
    nodes = (view.node for view in scene.nodes.values() if view.node.metadata.labels.get(names.GPU_PRODUCT) == product)
    like = max(nodes, key=lambda node: _slots(node.status.capacity, names.GPU), default=None)
    if like is None:
        raise ActionError(f'no node has the product "{product}" to copy; there is {", ".join(known) or "none"}')
    name = next(n for i in range(1, len(scene.nodes) + 2) if (n := f"new-{i}") not in scene.nodes)
    labels = {**like.metadata.labels, "kubernetes.io/hostname": name}
    metadata = msgspec.structs.replace(like.metadata, name=name, labels=labels)
    status = msgspec.structs.replace(like.status, allocatable=_healthy(like))
    spec = msgspec.structs.replace(like.spec, unschedulable=False)
    return node_view(msgspec.structs.replace(like, metadata=metadata, spec=spec, status=status), ())


def _healthy(node: Node) -> dict[str, str]:
    """A new node's devices are all well."""
    gpus = {name: count for name, count in node.status.capacity.items() if names.is_gpu_resource(name)}
    return node.status.allocatable | gpus
