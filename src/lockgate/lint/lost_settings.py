"""CRI settings that a loaded file says in vain: what each would have done, and what took it away.

A setting is in vain when neither it nor a later file's other value is in effect. Whether the release knows it at all
is found by asking the model what the section amounts to alone; a key that means nothing there is no loss.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import tomli_w

from lockgate.containerd.document import parse_document
from lockgate.containerd.effective import Effective, resolve
from lockgate.containerd.migrate_cri import CRI, CRI_IMAGES, CRI_RUNTIME
from lockgate.containerd.releases import PluginMerge, Release
from lockgate.containerd.values import Leaf, Origin, Plain, Table, find, leaves, plain
from lockgate.lint.rule import Path
from lockgate.lint.subject import Config

SECTIONS = (CRI_RUNTIME, CRI_IMAGES, CRI, "cri")
_ALONE = "/alone.toml"


@dataclass(frozen=True, slots=True)
class LostSetting:
    """One setting without effect: `path` is where it would have stood in the effective configuration.

    `by` is the later file's table that replaced it whole; None where the section is not read.
    """

    section: str
    inside: Path
    path: Path
    leaf: Leaf
    by: Origin | None


def vain_leaves(config: Config) -> Iterator[tuple[str, Path, Leaf]]:
    """Every leaf under a CRI section of a loaded file that is neither in effect nor overridden by another value."""
    used = _used(config.effective)
    for document in config.documents.values():
        for section in SECTIONS:
            table = find(document, "plugins", section)
            for inside, leaf in leaves(table) if isinstance(table, Table) else ():
                if (leaf.origin.file, leaf.origin.line) not in used:
                    yield section, inside, leaf


def lost_settings(config: Config) -> tuple[LostSetting, ...]:
    """The settings that would have an effect and have none."""
    known: dict[tuple[str, str], dict[Path, Path]] = {}
    found = []
    for section, inside, leaf in vain_leaves(config):
        place = (leaf.origin.file, section)
        if place not in known:
            known[place] = meaning(config.documents[leaf.origin.file], section, config.release)
        path = known[place].get(inside)
        if path is not None and _value(config.effective, path) != (leaf.value or None):
            found.append(LostSetting(section, inside, path, leaf, _replaced_by(config, section, leaf)))
    return tuple(found)


def meaning(document: Table, section: str, release: Release) -> dict[Path, Path]:
    """For each key of a section that the release understands, where it stands in the effective configuration."""
    table = find(document, "plugins", section)
    bare = plain(table) if table is not None else None
    if not isinstance(bare, dict):
        return {}
    if release.family.plugin_by_id and section in (CRI_RUNTIME, CRI_IMAGES):
        section = CRI  # 1.x has one section for what 2.x keeps in three
    text = tomli_w.dumps({"version": 2 if section in (CRI, "cri") else 3, "plugins": {_full(section): bare}})
    alone = resolve({_ALONE: text}, _ALONE, release)
    if not isinstance(alone, Effective):
        return {}
    stands = {leaf.origin.line: path for path, leaf in leaves(alone.document) if not leaf.origin.is_built_in}
    written = find(parse_document(text, _ALONE, release.family.toml), "plugins", _full(section))
    lines = {inside: leaf.origin.line for inside, leaf in leaves(written)} if isinstance(written, Table) else {}
    return {inside: stands[line] for inside, line in lines.items() if line in stands}


def _full(section: str) -> str:
    return CRI if section == "cri" else section


def _used(effective: Effective) -> set[tuple[str, int]]:
    return {
        (seen.origin.file, seen.origin.line)
        for _, leaf in leaves(effective.document)
        for seen in (leaf, *leaf.overrode)
    }


def _value(effective: Effective, path: Path) -> Plain:
    leaf = effective.leaf(*path)
    return (leaf.value or None) if leaf is not None else None


def _replaced_by(config: Config, section: str, leaf: Leaf) -> Origin | None:
    if config.release.family.plugins is not PluginMerge.REPLACE:
        return None
    order = list(config.documents)
    later = [config.documents[path] for path in order[order.index(leaf.origin.file) + 1 :]]
    tables = [table for document in later if (table := find(document, "plugins", section)) is not None]
    return tables[-1].origin if tables else None
