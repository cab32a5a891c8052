"""An effective configuration as plain data for people and programs: the document, and where each value comes from."""

from __future__ import annotations

from typing import Any

from lockgate.containerd.effective import Effective
from lockgate.containerd.load import ConfigError
from lockgate.containerd.values import Leaf, Plain, dotted, leaves, plain_table


def as_data(result: Effective | ConfigError, *, provenance: bool = True) -> dict[str, Any]:
    """`{"config": ..., "provenance": {path: {"file", "line", "overrode"}}}`, or `{"error": ...}`.

    A path is written as in TOML, `plugins."io.containerd.grpc.v1.cri".sandbox_image`. Built-in values have no file.
    """
    if isinstance(result, ConfigError):
        return {"error": {"message": result.message, "file": result.file, "line": result.line, "crash": result.panics}}
    data: dict[str, Any] = {"config": _json(plain_table(result.document))}
    if provenance:
        data["provenance"] = {dotted(path): _place(leaf) for path, leaf in leaves(result.document) if _is_told(leaf)}
    return data


def _is_told(leaf: Leaf) -> bool:
    """Built-in values that nothing has touched are left out: they are the rule."""
    return not leaf.origin.is_built_in or bool(leaf.overrode)


def _place(leaf: Leaf) -> dict[str, Any]:
    overrode = [{"file": e.origin.file, "line": e.origin.line, "value": _json(e.value)} for e in leaf.overrode]
    return {"file": leaf.origin.file, "line": leaf.origin.line, "overrode": overrode}


def _json(value: Plain) -> Any:
    """The value with dates as text."""
    match value:
        case dict():
            return {name: _json(item) for name, item in value.items()}
        case list():
            return [_json(item) for item in value]
        case str() | bool() | int() | float() | None:
            return value
        case _:
            return value.isoformat()
