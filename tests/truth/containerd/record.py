"""Writes down what real binaries make of a set of files, in a form that no distribution's own defaults change.

A dump is kept as its differences from what the same binary prints for `config default`.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from lockgate.containerd.values import dotted, plain_table
from tests.truth.containerd.compare import normal
from tests.truth.containerd.grammar import Files
from tests.truth.containerd.oracle import Binary

Row = dict[str, Any]


def record(name: str, files: Files, binaries: Iterable[Binary]) -> Row:
    """One row of recorded truth: the files and what each binary said."""
    return {"id": name, "files": files, "truth": {_name(binary): _said(binary, files) for binary in binaries}}


def _name(binary: Binary) -> str:
    return f"{binary.release}{'+unknown' if binary.release.is_debian else ''}"


def _said(binary: Binary, files: Files) -> Row:
    answer = binary.dump(files)
    if answer.document is None:
        return {"crash": True} if answer.crashed else {"error": answer.error.strip().splitlines()[-1][-300:]}
    return {"changes": changes(plain_table(binary.defaults), answer.document)}


def changes(defaults: Row, document: Row) -> Row:
    """Path to value of everything that differs from the defaults; None where a default is gone or empty."""
    before, after = dict(_flat(normal(defaults))), dict(_flat(normal(document)))
    return {p: _text(after.get(p)) for p in sorted(before.keys() | after.keys()) if before.get(p) != after.get(p)}


def _flat(node: Row, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, child in node.items():
        if isinstance(child, dict):
            yield from _flat(child, (*prefix, name))
        else:
            yield dotted((*prefix, name)), child


def _text(value: Any) -> Any:
    """The value as JSON can hold it: dates as text."""
    if isinstance(value, list):
        return [_text(item) for item in value]
    if isinstance(value, dict):
        return {name: _text(item) for name, item in value.items()}
    return value if isinstance(value, (str, bool, int, float, type(None))) else str(value)
