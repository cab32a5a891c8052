"""Values that know where they came from: a leaf carries its place and all it overrode; a table is a dict of leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import TypeAlias

Plain: TypeAlias = str | int | float | bool | date | datetime | time | list["Plain"] | dict[str, "Plain"] | None


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in a file: path and line (1 is the first). An empty file means the release's built-in default."""

    file: str
    line: int

    @property
    def is_built_in(self) -> bool:
        """True when no file says it."""
        return not self.file

    def __str__(self) -> str:  # type: ignore[explicit-override]  # typing.override is 3.12
        return "built-in default" if self.is_built_in else f"{self.file}:{self.line}"


BUILT_IN = Origin("", 0)


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value, the place that says it, and the values it overrode (latest first)."""

    value: Plain
    origin: Origin = BUILT_IN
    overrode: tuple[Leaf, ...] = ()

    def over(self, earlier: Leaf) -> Leaf:
        """This value, remembering that it took the place of `earlier` (older than what it overrode already)."""
        return replace(self, overrode=(*self.overrode, replace(earlier, overrode=()), *earlier.overrode))

    def with_value(self, value: Plain) -> Leaf:
        """The same place and history with another value (for a decoder that converts)."""
        return replace(self, value=value)


class Table(dict[str, "Node"]):
    """A table: names to leaves and tables, the line that first opened it, and whether it was written in braces."""

    __slots__ = ("inline", "origin")

    def __init__(
        self, entries: dict[str, Node] | None = None, origin: Origin = BUILT_IN, *, inline: bool = False
    ) -> None:
        super().__init__(entries or {})
        self.origin = origin
        self.inline = inline


Node: TypeAlias = Leaf | Table


def plain(node: Node) -> Plain:
    """The bare data of a node, as tomllib would give it."""
    if isinstance(node, Leaf):
        return node.value
    return {name: plain(child) for name, child in node.items()}


def plain_table(table: Table) -> dict[str, Plain]:
    """The bare data of a table."""
    return {name: plain(child) for name, child in table.items()}


def copy_tree(node: Table) -> Table:
    """A copy whose tables may be changed; leaves are shared since they are frozen."""
    return Table({k: copy_tree(v) if isinstance(v, Table) else v for k, v in node.items()}, node.origin)


def from_plain(data: dict[str, Plain], origin: Origin = BUILT_IN) -> Table:
    """A table tree over bare data, every value at one origin. Tables inside lists stay bare."""
    return Table(
        {k: from_plain(v, origin) if isinstance(v, dict) else Leaf(v, origin) for k, v in data.items()}, origin
    )


def find(table: Table, *path: str) -> Node | None:
    """The node at a path of names, or None."""
    node: Node | None = table
    for name in path:
        if not isinstance(node, Table):
            return None
        node = node.get(name)
    return node


def leaves(table: Table, prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Leaf]]:
    """Every leaf with its path."""
    for name, node in table.items():
        if isinstance(node, Leaf):
            yield (*prefix, name), node
        else:
            yield from leaves(node, (*prefix, name))


def dotted(path: tuple[str, ...]) -> str:
    """A path as TOML writes it: `plugins."io.containerd.grpc.v1.cri".containerd`."""
    return ".".join(p if p.replace("-", "").replace("_", "").isalnum() and p.isascii() else f'"{p}"' for p in path)
