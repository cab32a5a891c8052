"""What to write so that a node's containerd gets our runtime handlers, and nothing else changes.

The plan is made from the person's files without our own drop-in, written at the config version that fits them,
simulated before it is handed out, and refused when any key but the intended ones would change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from posixpath import dirname
from typing import TypeAlias

from lockgate.containerd.baselines import baseline
from lockgate.containerd.document import parse_document
from lockgate.containerd.dropin_check import Refusal, check, hopeless
from lockgate.containerd.dropin_node import Node, Record, Wanted, read_record, text_hash
from lockgate.containerd.dropin_text import alias_of, render, said, source_handler
from lockgate.containerd.effective import Effective, resolve
from lockgate.containerd.imports import File, Files, glob
from lockgate.containerd.load import ConfigError
from lockgate.containerd.releases import Release
from lockgate.containerd.toml_edit import add_import, has_imports, remove_import
from lockgate.containerd.toml_text import TomlError
from lockgate.containerd.values import Leaf, Table


@dataclass(frozen=True, slots=True)
class Plan:
    """Files to write (path to text; None: remove), and what the configuration then amounts to.

    `files` holds only what differs from the files at hand: an empty mapping means the node is as it should be.
    """

    files: Mapping[str, str | None]
    expected: Effective
    before: Effective
    notes: tuple[str, ...] = ()


Answer: TypeAlias = Plan | Refusal


def plan_dropin(
    files: Files | Mapping[str, File],
    root: str,
    release: Release,
    wanted: Wanted,
    dropin: str,
    *,
    defaults: Table | None = None,
) -> Answer:
    """What to write at `dropin` and, if need be, into the top-level file so that the wanted handlers are in effect."""
    tree = files if isinstance(files, Files) else Files(files)
    node = _look(tree, root, release, dropin, defaults)
    if isinstance(node, Refusal):
        return node
    refusal: Refusal | None = hopeless(node)
    if refusal:
        return refusal
    for version in _versions(node):
        for pattern in _patterns(node):
            answer = _try(node, tree, wanted, version, pattern)
            if isinstance(answer, Plan):
                return answer
            refusal = refusal or answer
    assert refusal is not None  # there is at least one version and one pattern
    return refusal


def plan_removal(
    files: Files | Mapping[str, File], root: str, release: Release, dropin: str, *, defaults: Table | None = None
) -> Answer:
    """What to write so that our drop-in and our edit of the top-level file are gone, everything else kept."""
    tree = files if isinstance(files, Files) else Files(files)
    before = resolve(tree, root, release, defaults=defaults)
    record = read_record(tree, dropin)
    changes: dict[str, str | None] = {dropin: None} if tree.read(dropin) is not None else {}
    changes |= _root_without_us(tree.read(root), root, record)
    after_tree = tree
    for path, content in changes.items():
        after_tree = after_tree.with_file(path, content)
    if after_tree.read(root) is None:
        after_tree = after_tree.with_file(root, "")
    after = resolve(after_tree, root, release, defaults=defaults)
    if isinstance(after, ConfigError):
        return Refusal("containerd/config-refused", f"without our drop-in containerd would not start: {after}", after)
    return Plan(changes, after, before if isinstance(before, Effective) else after)


def _root_without_us(found: File | None, root: str, record: Record) -> dict[str, str | None]:
    """Our edit of the top-level file undone; a file that cannot be read as TOML any more is left as it is."""
    if not record.pattern or not isinstance(found, (str, bytes)):
        return {}
    try:
        text = found.decode() if isinstance(found, bytes) else found
        without = remove_import(text, record.pattern, with_line=record.line)
    except (UnicodeDecodeError, TomlError):
        return {}  # the import is a pattern, so it does no harm without our file
    if text_hash(text) == record.after:  # nobody has edited it since
        return {root: None if record.created else without.removeprefix(record.prefix)}
    return {root: without} if without != text else {}


def _look(tree: Files, root: str, release: Release, dropin: str, defaults: Table | None) -> Node | Refusal:
    record = read_record(tree, dropin)
    theirs = tree.with_file(dropin, None)
    has_root = theirs.read(root) is not None
    if not has_root:
        theirs = theirs.with_file(root, "")
    before = resolve(theirs, root, release, defaults=defaults)
    if isinstance(before, ConfigError):
        return Refusal(
            "containerd/config-refused", f"containerd {release} refuses the node's own files: {before}", before
        )
    built_in = defaults if defaults is not None else baseline(release.family.baseline)
    return Node(theirs, root, release, dropin, before, record, built_in, has_root)


def _root_version(node: Node) -> int | None:
    leaf = parse_document(node.root_text, node.root, node.release.family.toml).get("version")
    return leaf.value if isinstance(leaf, Leaf) and isinstance(leaf.value, int) else None


def _versions(node: Node) -> list[int | None]:
    """Config versions to try, best first: the top-level file's own, then those the release knows."""
    family = node.release.family
    own = _root_version(node)
    if own is None and not node.root_text.strip():
        own = 2 if family.plugin_by_id else 3  # 3 is read by all of 2.x
    known = range(2, family.config_version + 1)
    return [own, *(version for version in known if version != own)]


def _patterns(node: Node) -> list[str | None]:
    """Import entries to try: none when the file is read anyway, else NVIDIA's, else one that matches ours alone."""
    with_ours = node.files.with_file(node.dropin, "")
    seen = resolve(with_ours, node.root, node.release, defaults=node.defaults)
    if isinstance(seen, Effective) and node.dropin in seen.loaded:
        return [None]
    wide = f"{dirname(node.dropin)}/*.toml"
    narrow = f"{node.dropin.removesuffix('.toml')}*.toml"
    newly_read = set(glob(wide, node.files)) - set(node.before.loaded)
    return [narrow] if newly_read else [wide, narrow]


def _try(node: Node, current: Files, wanted: Wanted, version: int | None, pattern: str | None) -> Answer:
    root_text, record = node.root_text, node.record
    if pattern is not None:
        root_text, record = _importing(node, version, pattern)
    text = render(node, wanted, version, record)
    planned = node.files.with_file(node.dropin, text).with_file(node.root, root_text)
    after = resolve(planned, node.root, node.release, defaults=node.defaults)
    refusal = check(node, wanted, planned, after)
    if refusal:
        return refusal
    assert isinstance(after, Effective)  # the check refuses an error
    files = {node.dropin: text, node.root: root_text}
    differing: dict[str, str | None] = {p: c for p, c in files.items() if not _same(current.read(p), c)}
    return Plan(differing, after, node.before, _notes(node, wanted))


def _importing(node: Node, version: int | None, pattern: str) -> tuple[str, Record]:
    """The top-level file with our import, and how to take it out again."""
    before = node.root_text
    prefix = f"version = {version}\n" if version is not None and not before.strip() else ""
    after = add_import(prefix + before, pattern)
    line = not has_imports(prefix + before)
    record = Record(pattern, text_hash(before), text_hash(after), created=not node.has_root, line=line, prefix=prefix)
    return after, record


def _same(found: File | None, text: str) -> bool:
    return (found or "") == text or (isinstance(found, bytes) and found == text.encode())


def _notes(node: Node, wanted: Wanted) -> tuple[str, ...]:
    alias, theirs = alias_of(source_handler(node.before, wanted)), node.before.handlers
    notes = [
        f"handler {name} of {theirs[name].origin} is covered by ours"
        for name in wanted.handlers
        if name in theirs and said(theirs[name].table) != alias
    ]
    if wanted.enable_cdi and node.before.cdi_spec_dirs is None:
        notes.append(f"containerd {node.release} has no CDI: devices must reach containers by device and mount specs")
    return tuple(notes)
