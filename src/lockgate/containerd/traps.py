"""Handlers that a file defines and the daemon does not have: which file, and what took them away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from lockgate.containerd.document import parse_document
from lockgate.containerd.effective import Effective
from lockgate.containerd.imports import File, Files
from lockgate.containerd.migrate_cri import CRI, CRI_RUNTIME
from lockgate.containerd.releases import PluginMerge
from lockgate.containerd.toml_text import TomlError
from lockgate.containerd.values import Leaf, Origin, Table, find

CRI_SECTIONS = (CRI_RUNTIME, CRI, "cri")


class Loss(Enum):
    """Why a handler that a file defines is not in effect."""

    TABLE_REPLACED = "a later file has the same plugin table, and this release takes the later table whole"
    NAME_NOT_READ = "this release does not read that plugin section at the config version the files end up with"
    PLUGIN_DISABLED = "the CRI plugin is disabled"
    FILE_NOT_LOADED = "no `imports` names the file"


@dataclass(frozen=True, slots=True)
class LostHandler:
    """One handler that a file defines in vain. `winner` is the line that took it away, where there is one."""

    name: str
    section: str
    defined: Origin
    loss: Loss
    winner: Origin | None


def lost_handlers(effective: Effective, files: Files | Mapping[str, File]) -> tuple[LostHandler, ...]:
    """Every handler that a file defines and the effective configuration lacks, one entry a name.

    Among the loaded files the last definition counts; a file that no import names counts when no loaded one has it.
    """
    tree = files if isinstance(files, Files) else Files(files)
    documents = list(_documents(effective, tree))
    lost: dict[str, LostHandler] = {}
    for at, document in enumerate(documents):
        for section, name, defined in _defined(document):
            if name not in effective.handlers:
                loss, winner = _why(effective, section, documents[at + 1 :])
                lost[name] = LostHandler(name, section, defined, loss, winner)
    for document in _unread(effective, tree):
        for section, name, defined in _defined(document):
            if name not in effective.handlers and name not in lost:
                lost[name] = LostHandler(name, section, defined, Loss.FILE_NOT_LOADED, None)
    return tuple(lost.values())


def handlers_in(text: str | bytes, file: str, effective: Effective) -> tuple[tuple[str, Origin], ...]:
    """The handlers that one file defines, with their lines, whether it is loaded or not."""
    try:
        document = parse_document(text, file, effective.release.family.toml)
    except TomlError:
        return ()
    return tuple((name, origin) for _, name, origin in _defined(document))


def _documents(effective: Effective, files: Files) -> Iterator[Table]:
    for path in effective.loaded:
        text = files.read(path)
        if isinstance(text, (str, bytes)):
            yield parse_document(text, path, effective.release.family.toml)


def _unread(effective: Effective, files: Files) -> Iterator[Table]:
    for path, text in sorted(files.entries.items()):
        if path.endswith(".toml") and path not in effective.loaded and isinstance(text, (str, bytes)):
            try:
                yield parse_document(text, path, effective.release.family.toml)
            except TomlError:
                continue  # a file that is not read cannot be blamed for its syntax


def _defined(document: Table) -> Iterator[tuple[str, str, Origin]]:
    for section in CRI_SECTIONS:
        runtimes = find(document, "plugins", section, "containerd", "runtimes")
        if isinstance(runtimes, Table):
            for name, table in runtimes.items():
                yield section, name, table.origin


def _why(effective: Effective, section: str, later: list[Table]) -> tuple[Loss, Origin | None]:
    family = effective.release.family
    if effective.cri() is None:
        node = effective.get("disabled_plugins")
        return Loss.PLUGIN_DISABLED, node.origin if node is not None else None
    if family.plugins is PluginMerge.REPLACE:
        tables = [table for document in later if (table := find(document, "plugins", section)) is not None]
        if tables:
            return Loss.TABLE_REPLACED, tables[-1].origin
    versions = [leaf for document in later if isinstance(leaf := document.get("version"), Leaf)]
    return Loss.NAME_NOT_READ, versions[-1].origin if versions else None
