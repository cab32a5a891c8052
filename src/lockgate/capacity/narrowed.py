"""The capacity answer for some nodes, or for one namespace: fewer rows, each with the numbers that it has anyway."""

from typing import TypeVar

import msgspec

from lockgate.capacity.overview import Overview
from lockgate.model.facts import Missing, Snapshot

T = TypeVar("T")


def of_nodes(snapshot: Snapshot, names: frozenset[str] | None) -> Snapshot:
    """Some nodes with their pods (None: everything); who waits waits for no node of them, and is left out."""
    if names is None:
        return snapshot
    return msgspec.structs.replace(
        snapshot,
        nodes=_only(snapshot.nodes, [n.name in names for n in _known(snapshot.nodes)]),
        some_nodes=tuple(n for n in snapshot.some_nodes if n.name in names),
        pods=_only(snapshot.pods, [p.spec.node_name in names for p in _known(snapshot.pods)]),
        node_states=_only(snapshot.node_states, [s.name in names for s in _known(snapshot.node_states)]),
        readings=_only(snapshot.readings, [r.node in names for r in _known(snapshot.readings)]),
    )


def narrowed(seen: Overview, namespace: str) -> Overview:
    """Only the pods of a namespace where pods are named; every number of a node as it was. All for ""."""
    if not namespace:
        return seen
    return msgspec.structs.replace(
        seen,
        namespaces=tuple(row for row in seen.namespaces if row.key == namespace),
        waiting=tuple(one for one in seen.waiting if one.namespace == namespace),
        idle=None if seen.idle is None else tuple(one for one in seen.idle if one.namespace == namespace),
    )


def _known(section: tuple[T, ...] | Missing) -> tuple[T, ...]:
    return () if isinstance(section, Missing) else section


def _only(section: tuple[T, ...] | Missing, kept: list[bool]) -> tuple[T, ...] | Missing:
    return section if isinstance(section, Missing) else tuple(e for e, k in zip(section, kept, strict=True) if k)
