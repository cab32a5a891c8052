"""The capacity table: rows by node, product, pool or namespace, one for each GPU resource; sums that can be checked.

On every row `allocatable = requested + headroom + locked - overheld`, where locked is headroom that no new pod can
reach, and `capacity = allocatable + unhealthy`.
"""

import enum
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import msgspec

from lockgate.capacity.demand import Waiting, gpu_requests
from lockgate.capacity.idle import Holder
from lockgate.capacity.node_capacity import NodeCapacity
from lockgate.capacity.slots import Sharing, Slots
from lockgate.model.objects import Pod
from lockgate.scheduling.node_fit import holds_room


class By(enum.StrEnum):
    """What the rows are."""

    NODE = "node"
    PRODUCT = "product"
    POOL = "pool"
    NAMESPACE = "namespace"


class Row(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Slots of one resource, added up over nodes. `physical` and `healthy` are None where a node does not tell.

    `largest` is the largest request that one open node takes; `guaranteed_mib` the least that a slot here promises;
    `idle` are requested slots whose device does nothing, None where that was not measured. What depends on pods is None
    where those of one of the nodes are not known.
    """

    key: str
    resource: str
    nodes: int
    physical: int | None
    healthy: int | None
    capacity: int
    allocatable: int
    requested: int | None
    headroom: int | None
    locked: int | None
    overheld: int | None
    largest: int | None
    sharing: tuple[Sharing, ...]
    guaranteed_mib: int | None
    lock_texts: tuple[str, ...] = ()
    idle: int | None = None

    @property
    def unhealthy(self) -> int:
        """Slots withdrawn by the kubelet."""
        return self.capacity - self.allocatable


class NamespaceRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the pods of one namespace hold and wait for, of one resource; `idle` as in Row."""

    key: str
    resource: str
    pods: int
    requested: int
    waiting_pods: int
    waiting: int
    gated: int
    idle: int | None = None


def rows(nodes: Iterable[NodeCapacity], by: By, unread: Collection[str] = ()) -> tuple[Row, ...]:
    """One row for each group and resource, in the order of their names; `unread` are nodes whose pods are not known."""
    grouped: dict[tuple[str, str], list[tuple[NodeCapacity, Slots]]] = {}
    for node in nodes:
        for slots in node.slots or (_NOTHING,):
            grouped.setdefault((_key(node, by), slots.resource), []).append((node, slots))
    found = (_row(key, resource, grouped[key, resource]) for key, resource in sorted(grouped))
    open_ = {(key, resource) for key, resource in grouped if _has(grouped[key, resource], unread)}
    return tuple(_without_pods(row) if (row.key, row.resource) in open_ else row for row in found)


def total(nodes: Iterable[NodeCapacity], unread: Collection[str] = ()) -> tuple[Row, ...]:
    """One row for each resource over all nodes."""
    renamed = (msgspec.structs.replace(node, pool="") for node in nodes)
    return rows(renamed, By.POOL, unread)


def namespace_rows(
    pods: Iterable[Pod], waits: Iterable[Waiting], idle: Iterable[Holder] | None = None
) -> tuple[NamespaceRow, ...]:
    """What each namespace holds on nodes, what of it is idle (None: not measured), and what it waits for."""
    devices = None if idle is None else Counter((holder.namespace, holder.pod) for holder in idle)
    held: dict[tuple[str, str], list[_Held]] = {}
    for pod, gpus in ((p, gpus) for p in pods if (gpus := gpu_requests(p)) and holds_room(p)):
        for resource, count in gpus.items():
            none = None if devices is None else min(devices[pod.namespace, pod.name], count)
            held.setdefault((pod.namespace, resource), []).append(_Held(count, none))
    asked: dict[tuple[str, str], list[Waiting]] = {}
    for one in waits:
        asked.setdefault((one.namespace, one.resource), []).append(one)
    return tuple(_namespace_row(key, held.get(key, []), asked.get(key, [])) for key in sorted({*held, *asked}))


class _Held(NamedTuple):
    """What one pod requests of a resource, and how many of those devices are idle."""

    slots: int
    idle: int | None


# A GPU node that advertises nothing still has a row: its devices are there and cannot be had.
_NOTHING = Slots(resource="", capacity=0, allocatable=0, requested=0)


def _key(node: NodeCapacity, by: By) -> str:
    keys: Mapping[By, str] = {By.NODE: node.node, By.PRODUCT: node.product, By.POOL: node.pool}
    return keys[by]


def _row(key: str, resource: str, members: list[tuple[NodeCapacity, Slots]]) -> Row:
    all_slots = [slots for _, slots in members]
    open_headroom = [slots.headroom for node, slots in members if not node.locked]
    return Row(
        key=key,
        resource=resource,
        nodes=len(members),
        physical=_sum(node.physical for node, _ in members),
        healthy=_sum(node.healthy for node, _ in members),
        capacity=sum(slots.capacity for slots in all_slots),
        allocatable=sum(slots.allocatable for slots in all_slots),
        requested=sum(slots.requested for slots in all_slots),
        headroom=sum(open_headroom),
        locked=sum(slots.headroom for node, slots in members if node.locked),
        overheld=sum(slots.overheld for slots in all_slots),
        largest=max(open_headroom, default=0),
        sharing=tuple(sorted({slots.sharing for slots in all_slots})),
        guaranteed_mib=_least(slots.guaranteed_mib for slots in all_slots),
        lock_texts=tuple(f"{node.node}: {lock.text}" for node, _ in members for lock in node.locks),
        idle=_sum(slots.idle for slots in all_slots),
    )


def _has(members: Iterable[tuple[NodeCapacity, Slots]], unread: Collection[str]) -> bool:
    return any(node.node in unread and slots.resource for node, slots in members)


def _without_pods(row: Row) -> Row:
    unknown = dict.fromkeys(("requested", "headroom", "locked", "overheld", "largest", "idle"))
    return msgspec.structs.replace(row, **unknown)


def _namespace_row(key: tuple[str, str], held: list[_Held], asked: list[Waiting]) -> NamespaceRow:
    return NamespaceRow(
        key=key[0],
        resource=key[1],
        pods=len(held),
        requested=sum(each.slots for each in held),
        idle=_sum(each.idle for each in held),
        waiting_pods=len(asked),
        waiting=sum(one.count for one in asked),
        gated=sum(one.count for one in asked if one.gated),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    """A sum that is unknown as soon as one part is."""
    known = list(counts)
    return None if any(count is None for count in known) else sum(count or 0 for count in known)


def _least(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if not known or any(count is None for count in known) else min(count or 0 for count in known)
