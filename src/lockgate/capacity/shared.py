"""Slots that share a GPU, and what one of them is worth: the guarantee, never the average."""

from collections.abc import Iterable

import msgspec

from lockgate.capacity.node_capacity import NodeCapacity
from lockgate.capacity.slots import Sharing, Slots
from lockgate.kit.counted import counted
from lockgate.kit.quantity import binary_size

_MIB = 1 << 20


class Shared(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Nodes whose slots of a resource share GPUs alike; `text` says for a person what that is worth."""

    resource: str
    nodes: tuple[str, ...]
    text: str


def shared(nodes: Iterable[NodeCapacity]) -> tuple[Shared, ...]:
    """Every kind of sharing that there is, with its nodes."""
    found: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        for slots in node.slots:
            if slots.capacity and (text := worth(slots)):
                found.setdefault((slots.resource, text), []).append(node.node)
    return tuple(Shared(resource=resource, nodes=tuple(names), text=text) for (resource, text), names in found.items())


def worth(slots: Slots) -> str:
    """What one of these slots is worth where they share a GPU; "" for slots that do not."""
    slices = counted(slots.replicas, "slot shares", "slots share")
    gpu = "one GPU" if slots.memory_mib is None else f"one GPU of {binary_size(slots.memory_mib * _MIB)}"
    match slots.sharing:
        case Sharing.TIME_SLICING:
            average = "" if slots.memory_mib is None else f", {_part(slots)} each is mere arithmetic"
            return f"{slices} {gpu}: 0 is guaranteed{average}; errors are shared too"
        case Sharing.MPS:
            most = "an equal part" if slots.memory_mib is None else _part(slots)
            return f"{slices} {gpu} by MPS: {most} of it at most each"
        case Sharing.EXCLUSIVE | Sharing.MIG:
            return ""


def _part(slots: Slots) -> str:
    return binary_size((slots.memory_mib or 0) * _MIB // slots.replicas)
