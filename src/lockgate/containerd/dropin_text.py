"""The text of our drop-in: handlers that are aliases of the node's own runc, and on 1.x the table they stand in."""

from __future__ import annotations

import json

import tomli_w

from lockgate.containerd.dropin_node import HANDLERS, Node, Record, Wanted, text_hash
from lockgate.containerd.effective import RUNC_V2, Effective, Handler
from lockgate.containerd.load import View, load
from lockgate.containerd.migrate_cri import CRI, CRI_RUNTIME
from lockgate.containerd.releases import Migration, PluginMerge
from lockgate.containerd.values import Plain, Table, find, plain_table

_NOTE = "# Written by Lockgate's toolkit; edits are overwritten. Handlers below are aliases of this node's own runc."


def render(node: Node, wanted: Wanted, version: int | None, record: Record) -> str:
    """The whole file, at one config version."""
    section = _section_name(node, version)
    copied, table = _base(node, section)
    runtimes = _sub(_sub(table, "containerd"), "runtimes")
    replaces = node.release.family.plugins is PluginMerge.REPLACE
    if replaces:
        for name, handler in node.before.handlers.items():
            runtimes.setdefault(name, said(handler.table))  # 1.x forgets its runc once a file names a handler
    for name in wanted.handlers:
        source = source_handler(node.before, wanted)
        runtimes[name] = alias_of(source) if replaces else _covering(name, node.before, wanted)
    if wanted.enable_cdi and node.release.family.cdi_switch and node.before.enable_cdi is not True:
        table["enable_cdi"] = True
    if wanted.default:
        _sub(table, "containerd")["default_runtime_name"] = wanted.default
    document: dict[str, Plain] = {} if version is None else {"version": version}
    document["plugins"] = {section: table}
    return f"{_NOTE}\n{record.dump(copied)}\n{tomli_w.dumps(document)}"


def _section_name(node: Node, version: int | None) -> str:
    if version in (None, 1) and node.release.family.migration is not Migration.MERGED:
        return "cri"
    if version is None:
        return CRI_RUNTIME
    return CRI if version < 3 else CRI_RUNTIME


def _base(node: Node, section: str) -> tuple[str, dict[str, Plain]]:
    """Where 1.x replaces tables, the person's own CRI table and its hash; elsewhere nothing need be repeated."""
    if node.release.family.plugins is not PluginMerge.REPLACE:
        return "", {}
    merged = load(node.files, node.root, node.release.family, View.DAEMON, node.defaults).document
    table = find(merged, "plugins", section)
    data = plain_table(table) if isinstance(table, Table) else {}
    return text_hash(json.dumps(data, sort_keys=True, default=str)), data


def _sub(table: dict[str, Plain], name: str) -> dict[str, Plain]:
    child = table.get(name)
    if not isinstance(child, dict):
        child = table[name] = {}
    return child


def source_handler(effective: Effective, wanted: Wanted) -> Handler:
    """The handler that ours are aliases of: the node's runc, else crun, else another shim of runc, else plain runc."""
    theirs = {name: h for name, h in effective.handlers.items() if name not in HANDLERS and name not in wanted.handlers}
    default = theirs.get(effective.default_runtime_name or "")
    choices = [theirs.get("runc"), theirs.get("crun"), default, *theirs.values()]
    alike = (handler for handler in choices if handler is not None and handler.runtime_type in ("", RUNC_V2))
    return next(alike, Handler("runc", Table()))


def alias_of(handler: Handler) -> dict[str, Plain]:
    """A handler that behaves as another: its type, always named, and what files say of it (not what is built in)."""
    # a runc without a type of its own is still runc (container-toolkit#1956)
    return {"runtime_type": RUNC_V2} | said(handler.table, built_in=False)


def _covering(name: str, before: Effective, wanted: Wanted) -> dict[str, Plain]:
    """An alias for releases that merge: what another file says of the same handler is set to its empty value."""
    alias = alias_of(source_handler(before, wanted))
    existing = before.handlers.get(name)
    return _cover(said(existing.table), alias) if existing is not None else alias


def _cover(existing: dict[str, Plain], alias: dict[str, Plain]) -> dict[str, Plain]:
    covered = dict(alias)
    for key, value in existing.items():
        own = alias.get(key)
        if isinstance(value, dict):
            covered[key] = _cover(value, own if isinstance(own, dict) else {})
        elif key not in alias and isinstance(value, (str, bool, int, float, list)):
            covered[key] = type(value)()
    return covered


def said(table: Table, *, built_in: bool = True) -> dict[str, Plain]:
    """What a table says that is not empty."""
    found: dict[str, Plain] = {}
    for name, node in table.items():
        if isinstance(node, Table):
            found |= {name: inner} if (inner := said(node, built_in=built_in)) else {}
        elif node.value and (built_in or not node.origin.is_built_in):
            found[name] = node.value
    return found
