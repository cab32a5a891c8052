"""One GPU node: devices behind it, slots it advertises, what is requested, and whether new pods may come."""

from collections.abc import Mapping

import msgspec

from lockgate.capacity.idle import with_idle
from lockgate.capacity.locks import Lock, locks_of
from lockgate.capacity.slots import Slots, is_mig, number, slots_of
from lockgate.model import names
from lockgate.model.facts import Reading
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.node_state import Device, GPUNodeState
from lockgate.model.objects import Node
from lockgate.scheduling.scene import NodeView, Scene

# What clusters call a group of like nodes, in the order of preference.
POOL_LABELS = (
    "karpenter.sh/nodepool",
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "node.kubernetes.io/instance-type",
)
UNKNOWN = "unknown"


class NodeCapacity(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A GPU node's account. `physical` and `healthy` count whole GPUs; None where nothing says how many there are."""

    node: str
    product: str
    pool: str
    physical: int | None
    healthy: int | None
    slots: tuple[Slots, ...]
    locks: tuple[Lock, ...] = ()

    @property
    def locked(self) -> bool:
        """Whether something keeps new pods away."""
        return bool(self.locks)

    def slots_named(self, resource: str) -> Slots | None:
        """The slots of one resource, None when the node does not name it."""
        return next((slots for slots in self.slots if slots.resource == resource), None)


def gpu_nodes(
    scene: Scene, states: Mapping[str, GPUNodeState], readings: Mapping[str, tuple[Reading, ...]] = {}
) -> tuple[NodeCapacity, ...]:
    """Every node that has, or says that it has, NVIDIA devices, by name; tainted and cordoned ones too.

    States and readings come by node.
    """
    views = sorted((v for v in scene.nodes.values() if is_gpu_node(v.node)), key=lambda view: view.name)
    return tuple(node_capacity(view, states.get(view.name), readings.get(view.name, ())) for view in views)


def node_capacity(
    view: NodeView, state: GPUNodeState | None = None, readings: tuple[Reading, ...] = ()
) -> NodeCapacity:
    """One node's account; the agent's own list of devices, where it is published, is believed before the labels."""
    labels = view.node.metadata.labels
    slots = tuple(with_idle(slots, readings) for slots in slots_of(view.node, view.room))
    devices = state.status.devices.devices if state and state.status.devices else ()
    physical, healthy = _from_devices(devices) if devices else _from_labels(view.node, slots)
    return NodeCapacity(
        node=view.name,
        product=labels.get(names.GPU_PRODUCT) or UNKNOWN,
        pool=next((labels[key] for key in POOL_LABELS if labels.get(key)), UNKNOWN),
        physical=physical,
        healthy=healthy,
        slots=slots,
        locks=locks_of(view.node),
    )


def _from_devices(devices: tuple[Device, ...]) -> tuple[int, int]:
    """MIG devices are numbered `GPU:device`: a GPU is healthy when all of its devices are."""
    sound: dict[str, bool] = {}
    for device in devices:
        gpu = device.index.partition(":")[0]
        sound[gpu] = sound.get(gpu, True) and device.healthy
    return len(sound), sum(sound.values())


def _from_labels(node: Node, slots: tuple[Slots, ...]) -> tuple[int | None, int | None]:
    labels = node.metadata.labels
    if any(is_mig(s.resource, labels) for s in slots):
        # MIG devices do not tell whole GPUs; the label does, unless strategy `single` made it count MIG devices.
        single = any(is_mig(s.resource, labels) and not s.resource.startswith(names.MIG_PREFIX) for s in slots)
        gpus = None if single else number(labels, names.GPU_COUNT)
        return gpus, None if any(s.unhealthy for s in slots) else gpus
    devices = sum(-(-s.capacity // s.replicas) for s in slots)
    physical = max(number(labels, names.GPU_COUNT) or 0, devices)
    if not physical:  # the node says that GPUs are there, or a plugin was, and nothing says how many
        return None, None
    return physical, min(sum(s.allocatable // s.replicas for s in slots), physical)
