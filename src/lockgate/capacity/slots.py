"""The GPU slots that a node advertises, and what one of them is worth: how it shares, and what memory it guarantees.

Source: GFD's labels (k8s-device-plugin 0.20). A time-sliced slot shares the whole memory of its GPU with the others:
nothing of it is guaranteed. MPS caps each client at an equal part. A MIG device's memory is its own.
"""

import enum

import msgspec

from lockgate.model import names
from lockgate.model.objects import Labels, Node
from lockgate.scheduling.node_fit import Room
from lockgate.scheduling.requests import amounts

_SHARED_SUFFIX = ".shared"


class Sharing(enum.StrEnum):
    """How the slots of a resource share the device behind them."""

    EXCLUSIVE = "exclusive"
    TIME_SLICING = "time-slicing"
    MPS = "mps"
    MIG = "mig"


class Slots(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One GPU resource of one node. `memory_mib` is that of the device behind a slot, None where no label says it.

    `idle` are requested slots whose device does nothing, None where that was not measured.
    """

    resource: str
    capacity: int
    allocatable: int
    requested: int
    sharing: Sharing = Sharing.EXCLUSIVE
    replicas: int = 1
    memory_mib: int | None = None
    idle: int | None = None

    @property
    def headroom(self) -> int:
        """Slots that the scheduler can still give: never below 0, also where pods hold more than there is."""
        return max(self.allocatable - self.requested, 0)

    @property
    def overheld(self) -> int:
        """Slots that pods request beyond what is allocatable: devices went away, or pods bypassed the scheduler."""
        return max(self.requested - self.allocatable, 0)

    @property
    def unhealthy(self) -> int:
        """Slots that the kubelet has withdrawn: unhealthy devices, or a plugin that is gone."""
        return max(self.capacity - self.allocatable, 0)

    @property
    def guaranteed_mib(self) -> int | None:
        """Memory that a pod with one slot can count on: 0 under time-slicing, None when the device's is not known."""
        match self.sharing:
            case Sharing.TIME_SLICING:
                return 0
            case Sharing.MPS:
                return None if self.memory_mib is None else self.memory_mib // self.replicas
            case Sharing.EXCLUSIVE | Sharing.MIG:
                return self.memory_mib


def slots_of(node: Node, room: Room) -> tuple[Slots, ...]:
    """The GPU resources that a node names, at 0 too, sorted by name."""
    capacity = amounts(node.status.capacity)
    advertised = sorted(name for name in {*capacity, *room.allocatable} if names.is_gpu_resource(name))
    return tuple(_slots(name, capacity.get(name, 0), node.metadata.labels, room) for name in advertised)


def _slots(resource: str, capacity: int, labels: Labels, room: Room) -> Slots:
    prefix = label_prefix(resource)
    replicas = max(number(labels, f"{prefix}.replicas") or 1, 1)
    return Slots(
        resource=resource,
        capacity=capacity,
        allocatable=room.allocatable.get(resource, 0),
        requested=room.requested.get(resource, 0),
        sharing=_sharing(resource, labels, replicas),
        replicas=replicas,
        memory_mib=number(labels, f"{prefix}.memory"),
    )


def shares_gpus(node: Node) -> bool:
    """Whether a node's slots of whole GPUs share them, by GFD's labels."""
    labels = node.metadata.labels
    return (number(labels, names.GPU_REPLICAS) or 1) > 1 or labels.get(names.SHARING_STRATEGY, "none") != "none"


def label_prefix(resource: str) -> str:
    """What GFD's labels about a resource begin with; a renamed resource keeps the labels of its original name."""
    return resource.removesuffix(_SHARED_SUFFIX)


def number(labels: Labels, key: str) -> int | None:
    """A label as a whole number, None when it is absent or is none."""
    text = labels.get(key, "")
    return int(text) if text.isascii() and text.isdigit() else None


def _sharing(resource: str, labels: Labels, replicas: int) -> Sharing:
    strategy = labels.get(f"{label_prefix(resource)}.sharing-strategy", "")
    shared = replicas > 1 or resource.endswith(_SHARED_SUFFIX)
    if strategy == "mps" and shared:
        return Sharing.MPS
    if shared:
        return Sharing.TIME_SLICING
    return Sharing.MIG if is_mig(resource, labels) else Sharing.EXCLUSIVE


def is_mig(resource: str, labels: Labels) -> bool:
    """Whether a slot is a MIG device: by its name, or by the product that strategy `single` labels the node with."""
    return resource.startswith(names.MIG_PREFIX) or "-MIG-" in labels.get(names.GPU_PRODUCT, "")
