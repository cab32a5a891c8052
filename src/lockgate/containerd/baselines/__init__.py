"""What each family does when no file says otherwise: the text of `containerd config default`, parsed once."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from lockgate.containerd.document import parse_document
from lockgate.containerd.toml_dialect import GO_TOML_2
from lockgate.containerd.values import BUILT_IN, Leaf, Table


@cache
def baseline(family: str) -> Table:
    """The built-in configuration of a family, every value marked as built in. Callers must not change it."""
    module = import_module(f"{__name__}.r{family.replace('.', '_')}")
    return parse_baseline(module.TEXT)


def parse_baseline(text: str) -> Table:
    """The same from the text that a node's own `containerd config default` prints (a distribution may differ)."""
    return _built_in(parse_document(text, "", GO_TOML_2))


def _built_in(table: Table) -> Table:
    pairs = {k: _built_in(v) if isinstance(v, Table) else Leaf(v.value, BUILT_IN) for k, v in table.items()}
    return Table(pairs, BUILT_IN)
