"""What CRI-O makes of its files: the top-level file, then the drop-ins in the order of their names (crio.conf.d(5)).

A later file's keys replace earlier ones, table by table; a handler is one value. This is the documented order; no
binary of CRI-O can be had here to compare it with.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from posixpath import basename
from typing import Any, Final

import tomli_w

from lockgate.containerd import Refusal, Wanted

_NOTE: Final = (
    "# Written by Lockgate's toolkit; edits are overwritten. Handlers below are aliases of this node's own.\n"
)
_HANDLERS: Final = ("crio", "runtime", "runtimes")


@dataclass(frozen=True, slots=True)
class Effective:
    """Every key with its value, and for each handler the file that says it."""

    document: dict[str, Any]
    said_by: dict[str, str]

    @property
    def handlers(self) -> dict[str, dict[str, Any]]:
        """Handlers that files define, by name."""
        return {name: table for name, table in _at(self.document, _HANDLERS).items() if isinstance(table, dict)}

    @property
    def default(self) -> str:
        """The handler of pods that name none; "" where no file says it."""
        return str(_at(self.document, _HANDLERS[:2]).get("default_runtime", ""))


def resolve(texts: Mapping[str, str]) -> Effective | Refusal:
    """`texts` in the order of reading, the top-level file first."""
    document: dict[str, Any] = {}
    said_by: dict[str, str] = {}
    for path, text in texts.items():
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            return Refusal("crio/config-refused", f"{path}: {error}: CRI-O does not start with it")
        _merge(document, found, ())
        said_by |= dict.fromkeys(_at(found, _HANDLERS), path)
    return Effective(document, said_by)


def _merge(into: dict[str, Any], found: dict[str, Any], path: tuple[str, ...]) -> None:
    for key, value in found.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict) and path != _HANDLERS:
            _merge(into[key], value, (*path, key))
        else:
            into[key] = value


def _at(document: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    found: Any = document
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def drop_in_text(before: Effective, wanted: Wanted, program: str) -> str:
    """Handlers that are aliases of the node's own: of what its files say of crun or runc, else of `program`."""
    known = {name: table for name, table in before.handlers.items() if name not in wanted.handlers}
    source = next((known[name] for name in (before.default, "crun", "runc") if name in known), {})
    alias = source | {"runtime_path": source.get("runtime_path") or program, "runtime_type": "oci"}
    runtime: dict[str, Any] = {"default_runtime": wanted.default} if wanted.default else {}
    runtime["runtimes"] = dict.fromkeys(wanted.handlers, alias)
    return _NOTE + tomli_w.dumps({"crio": {"runtime": runtime}})


def check(before: Effective, after: Effective, wanted: Wanted, drop_in: str) -> Refusal | None:
    """Why the drop-in must not be written: a later file would win, or something else would change."""
    for name in wanted.handlers:
        if after.said_by.get(name) != drop_in:
            winner = after.said_by.get(name, "no file")
            return Refusal("crio/dropin-overridden", f'handler "{name}" of {basename(drop_in)} is replaced by {winner}')
    if wanted.default and after.default != wanted.default:
        return Refusal("crio/default-runtime", f'default_runtime stays "{after.default}", a later file sets it')
    rest = {name: table for name, table in after.handlers.items() if name not in wanted.handlers}
    if rest != {name: table for name, table in before.handlers.items() if name not in wanted.handlers}:
        return Refusal("crio/dropin-side-effect", "our drop-in would change other handlers")
    return None
