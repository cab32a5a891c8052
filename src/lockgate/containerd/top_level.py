"""Reads single top-level settings of a decoded file or a merged document."""

from __future__ import annotations

from lockgate.containerd.values import Leaf, Table


def config_version(document: Table) -> int:
    """The config version that a document says; 0 when it says none."""
    node = document.get("version")
    return node.value if isinstance(node, Leaf) and isinstance(node.value, int) else 0


def listed(document: Table, name: str) -> list[str]:
    """A top-level list of strings."""
    node = document.get(name)
    return [str(item) for item in node.value] if isinstance(node, Leaf) and isinstance(node.value, list) else []


def line_of(document: Table, name: str) -> int:
    """The line of a top-level key; 0 when it is not there."""
    node = document.get(name)
    return node.origin.line if node is not None else 0
