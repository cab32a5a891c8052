"""Held but idle: slots that a pod requests while the device behind them does nothing at the moment of measuring.

Idle is less than 1 % utilisation in one instant sample of the exporter: a hint to ask the owner, no verdict. Where
slots share a device the exporter cannot tell whose work it is (NVIDIA's documentation on time-slicing); then all slots
of a node are idle when all its devices are, none when none is, and otherwise it is not known.
"""

from collections.abc import Iterable, Mapping

import msgspec

from lockgate.capacity.slots import Sharing, Slots
from lockgate.model import names
from lockgate.model.facts import Reading

IDLE_BELOW = 0.01  # of 1


class Holder(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A pod that holds an idle device, and the memory in use there: nothing computes, but something is loaded."""

    node: str
    device: str
    namespace: str
    pod: str
    memory_used_mib: int | None = None


def by_node(readings: Iterable[Reading]) -> dict[str, tuple[Reading, ...]]:
    """Readings grouped by their node."""
    grouped: dict[str, list[Reading]] = {}
    for reading in readings:
        grouped.setdefault(reading.node, []).append(reading)
    return {node: tuple(found) for node, found in grouped.items()}


def idle_holders(readings: Iterable[Reading]) -> tuple[Holder, ...]:
    """Every pod that the exporter names on a device that is idle, by node and device."""
    idle = sorted((r for r in readings if r.pod and _is_idle(r)), key=lambda r: (r.node, r.device, r.namespace, r.pod))
    return tuple(
        Holder(node=r.node, device=r.device, namespace=r.namespace, pod=r.pod, memory_used_mib=r.memory_used_mib)
        for r in idle
    )


def with_idle(slots: Slots, readings: Iterable[Reading]) -> Slots:
    """The slots of one node with those that are idle counted; `readings` are that node's."""
    return msgspec.structs.replace(slots, idle=_idle(slots, _behind(slots, readings)))


def _idle(slots: Slots, readings: Mapping[str, tuple[Reading, ...]]) -> int | None:
    """Readings come by their device."""
    if not slots.requested:
        return 0
    if not readings:
        return None
    if slots.sharing in (Sharing.TIME_SLICING, Sharing.MPS):
        idle = sum(all(map(_is_idle, each)) for each in readings.values())
        return slots.requested if idle == len(readings) else 0 if not idle else None
    held = [each for each in readings.values() if any(reading.pod for reading in each)]
    return min(sum(all(map(_is_idle, each)) for each in held), slots.requested) if held else None


def _behind(slots: Slots, readings: Iterable[Reading]) -> dict[str, tuple[Reading, ...]]:
    """The measured devices behind a resource: MIG devices by their profile, whole GPUs by having none."""
    wanted = slots.resource.removeprefix(names.MIG_PREFIX) if slots.resource.startswith(names.MIG_PREFIX) else ""
    single = slots.sharing is Sharing.MIG and not wanted
    found: dict[str, tuple[Reading, ...]] = {}
    for reading in readings:
        told = reading.profile.replace("+", ".")
        if reading.utilisation is not None and (told == wanted or (single and told)):
            found[reading.device] = (*found.get(reading.device, ()), reading)
    return found


def _is_idle(reading: Reading) -> bool:
    return reading.utilisation is not None and reading.utilisation < IDLE_BELOW
