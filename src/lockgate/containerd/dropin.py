"""What to write so that a node's containerd gets our runtime handlers, and nothing else changes.

The plan is made from the person's files without our own drop-in, written at the config version that fits them,
simulated before it is handed out, and refused when any key but the intended ones would change.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from posixpath import dirname
from typing import TypeAlias

import tomli_w

from lockgate.containerd.baselines import baseline
from lockgate.containerd.document import parse_document
from lockgate.containerd.effective import RUNC_V2, Effective, Handler, resolve
from lockgate.containerd.imports import File, Files, glob
from lockgate.containerd.load import ConfigError, View, load
from lockgate.containerd.migrate import CRI, CRI_RUNTIME
from lockgate.containerd.releases import Migration, PluginMerge, Release
from lockgate.containerd.toml_edit import add_import, has_imports, remove_import
from lockgate.containerd.traps import LostHandler, lost_handlers
from lockgate.containerd.validate import cri_problems
from lockgate.containerd.values import Leaf, Plain, Table, dotted, find, leaves, plain_table

HANDLERS = ("nvidia", "nvidia-cdi", "nvidia-legacy")
_NOTE = "# Written by Lockgate's toolkit; edits are overwritten. Handlers below are aliases of this node's own runc."
_RECORD = "# lockgate: "


@dataclass(frozen=True, slots=True)
class Change:
    """A key whose effective value would change: before and after, None where it is absent."""

    path: tuple[str, ...]
    before: Plain
    after: Plain

    def __str__(self) -> str:  # type: ignore[explicit-override]  # typing.override is 3.12
        return f"{dotted(self.path)}: {self.before!r} would become {self.after!r}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing should be written. `id` is the finding of the same name."""

    id: str
    message: str
    error: ConfigError | None = None
    changes: tuple[Change, ...] = ()
    lost: tuple[LostHandler, ...] = ()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the handlers should be: names, CDI, and which of them pods get that name none."""

    handlers: tuple[str, ...] = HANDLERS
    enable_cdi: bool = True
    default: str | None = None


@dataclass(frozen=True, slots=True)
class _Record:
    """What the drop-in remembers in its header: our edit of the top-level file, to undo it later."""

    pattern: str = ""
    before: str = ""
    after: str = ""
    created: bool = False  # the file is ours
    line: bool = False  # the `imports` line is ours

    def dump(self, copied: str) -> str:
        data = {"import": self.pattern, "before": self.before, "after": self.after, "created": self.created}
        data |= {"line": self.line}
        return _RECORD + json.dumps({**data, "copied": copied} if copied else data)


@dataclass(frozen=True, slots=True)
class _Node:
    """The person's configuration: all files but our drop-in, and what they amount to."""

    files: Files
    root: str
    release: Release
    dropin: str
    before: Effective
    record: _Record
    defaults: Table

    @property
    def root_text(self) -> str:
        text = self.files.read(self.root)
        return text.decode() if isinstance(text, bytes) else text if isinstance(text, str) else ""


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
    refusal: Refusal | None = _hopeless(node)
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
    record = _read_record(tree, dropin)
    changes: dict[str, str | None] = {dropin: None} if tree.read(dropin) is not None else {}
    text = tree.read(root)
    if record.pattern and isinstance(text, (str, bytes)):
        text = text.decode() if isinstance(text, bytes) else text
        untouched = _hash(text) == record.after
        changes |= {
            root: None if record.created and untouched else remove_import(text, record.pattern, with_line=record.line)
        }
    after_tree = tree
    for path, content in changes.items():
        after_tree = after_tree.with_file(path, content)
    if after_tree.read(root) is None:
        after_tree = after_tree.with_file(root, "")
    after = resolve(after_tree, root, release, defaults=defaults)
    if isinstance(after, ConfigError):
        return Refusal("containerd/config-refused", f"without our drop-in containerd would not start: {after}", after)
    return Plan(changes, after, before if isinstance(before, Effective) else after)


def _look(tree: Files, root: str, release: Release, dropin: str, defaults: Table | None) -> _Node | Refusal:
    record = _read_record(tree, dropin)
    theirs = tree.with_file(dropin, None)
    if theirs.read(root) is None:
        theirs = theirs.with_file(root, "")
    before = resolve(theirs, root, release, defaults=defaults)
    if isinstance(before, ConfigError):
        return Refusal(
            "containerd/config-refused", f"containerd {release} refuses the node's own files: {before}", before
        )
    built_in = defaults if defaults is not None else baseline(release.family.baseline)
    return _Node(theirs, root, release, dropin, before, record, built_in)


def _read_record(tree: Files, dropin: str) -> _Record:
    text = tree.read(dropin)
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    lines = text.splitlines() if isinstance(text, str) else []
    for line in lines:
        if line.startswith(_RECORD):
            try:
                data = json.loads(line.removeprefix(_RECORD))
                return _Record(data["import"], data["before"], data["after"], data["created"], data["line"])
            except (ValueError, KeyError, TypeError):
                return _Record()
    return _Record()


def _hopeless(node: _Node) -> Refusal | None:
    if not node.before.cri_disabled:
        return None
    place = node.before.provenance("disabled_plugins")
    return Refusal(
        "containerd/cri-disabled", f"the CRI plugin is disabled ({place}): the kubelet cannot use containerd"
    )


def _raw(node: _Node) -> Table:
    return load(node.files, node.root, node.release.family, View.DAEMON, node.defaults).document


def _root_version(node: _Node) -> int | None:
    leaf = parse_document(node.root_text, node.root, node.release.family.toml).get("version")
    return leaf.value if isinstance(leaf, Leaf) and isinstance(leaf.value, int) else None


def _versions(node: _Node) -> list[int | None]:
    """Config versions to try, best first: the top-level file's own, then those the release knows."""
    family = node.release.family
    own = _root_version(node)
    if own is None and not node.root_text.strip():
        own = 2 if family.plugin_by_id else 3  # 3 is read by all of 2.x
    known = range(2, family.config_version + 1)
    return [own, *(version for version in known if version != own)]


def _patterns(node: _Node) -> list[str | None]:
    """Import entries to try: none when the file is read anyway, else NVIDIA's, else one that matches ours alone."""
    with_ours = node.files.with_file(node.dropin, "")
    seen = resolve(with_ours, node.root, node.release, defaults=node.defaults)
    if isinstance(seen, Effective) and node.dropin in seen.loaded:
        return [None]
    wide = f"{dirname(node.dropin)}/*.toml"
    narrow = f"{node.dropin.removesuffix('.toml')}*.toml"
    newly_read = set(glob(wide, node.files)) - set(node.before.loaded)
    return [narrow] if newly_read else [wide, narrow]


def _try(node: _Node, current: Files, wanted: Wanted, version: int | None, pattern: str | None) -> Answer:
    root_text, record = node.root_text, node.record
    if pattern is not None:
        new_text = add_import(_with_version(root_text, version), pattern)
        record = _Record(
            pattern, _hash(root_text), _hash(new_text), created=not root_text, line=not has_imports(root_text)
        )
        root_text = new_text
    text = _render(node, wanted, version, record)
    planned = node.files.with_file(node.dropin, text).with_file(node.root, root_text)
    after = resolve(planned, node.root, node.release, defaults=node.defaults)
    refusal = _check(node, wanted, planned, after)
    if refusal:
        return refusal
    assert isinstance(after, Effective)  # the check refuses an error
    files = {node.dropin: text, node.root: root_text}
    differing: dict[str, str | None] = {p: c for p, c in files.items() if not _same(current.read(p), c)}
    return Plan(differing, after, node.before, _notes(node, wanted))


def _same(found: File | None, text: str) -> bool:
    return (found or "") == text or (isinstance(found, bytes) and found == text.encode())


def _with_version(text: str, version: int | None) -> str:
    return text if text.strip() or version is None else f"version = {version}\n{text}"


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _notes(node: _Node, wanted: Wanted) -> tuple[str, ...]:
    alias, theirs = _alias(_source(node.before, wanted)), node.before.handlers
    notes = [
        f"handler {name} of {theirs[name].origin} is covered by ours"
        for name in wanted.handlers
        if name in theirs and _said(theirs[name].table) != alias
    ]
    if wanted.enable_cdi and node.before.cdi_spec_dirs is None:
        notes.append(f"containerd {node.release} has no CDI: devices must reach containers by device and mount specs")
    return tuple(notes)


def _render(node: _Node, wanted: Wanted, version: int | None, record: _Record) -> str:
    section = _section_name(node, version)
    copied, table = _base(node, section)
    runtimes = _sub(_sub(table, "containerd"), "runtimes")
    replaces = node.release.family.plugins is PluginMerge.REPLACE
    if replaces:
        for name, handler in node.before.handlers.items():
            runtimes.setdefault(name, _said(handler.table))  # 1.x forgets its runc once a file names a handler
    for name in wanted.handlers:
        runtimes[name] = _alias(_source(node.before, wanted)) if replaces else _covering(name, node.before, wanted)
    if wanted.enable_cdi and node.release.family.cdi_switch and node.before.enable_cdi is not True:
        table["enable_cdi"] = True
    if wanted.default:
        _sub(table, "containerd")["default_runtime_name"] = wanted.default
    document: dict[str, Plain] = {} if version is None else {"version": version}
    document["plugins"] = {section: table}
    return f"{_NOTE}\n{record.dump(copied)}\n{tomli_w.dumps(document)}"


def _section_name(node: _Node, version: int | None) -> str:
    if version in (None, 1) and node.release.family.migration is not Migration.MERGED:
        return "cri"
    if version is None:
        return CRI_RUNTIME
    return CRI if version < 3 else CRI_RUNTIME


def _base(node: _Node, section: str) -> tuple[str, dict[str, Plain]]:
    """Where 1.x replaces tables, the person's own CRI table and its hash; elsewhere nothing need be repeated."""
    if node.release.family.plugins is not PluginMerge.REPLACE:
        return "", {}
    table = find(_raw(node), "plugins", section)
    data = plain_table(table) if isinstance(table, Table) else {}
    return _hash(json.dumps(data, sort_keys=True, default=str)), data


def _sub(table: dict[str, Plain], name: str) -> dict[str, Plain]:
    child = table.get(name)
    if not isinstance(child, dict):
        child = table[name] = {}
    return child


def _source(effective: Effective, wanted: Wanted) -> Handler:
    """The handler that ours are aliases of: the node's runc, else crun, else another shim of runc, else plain runc."""
    theirs = {name: h for name, h in effective.handlers.items() if name not in HANDLERS and name not in wanted.handlers}
    default = theirs.get(effective.default_runtime_name or "")
    choices = [theirs.get("runc"), theirs.get("crun"), default, *theirs.values()]
    alike = (handler for handler in choices if handler is not None and handler.runtime_type in ("", RUNC_V2))
    return next(alike, Handler("runc", Table()))


def _alias(handler: Handler) -> dict[str, Plain]:
    """A handler that behaves as another: its type, always named, and what files say of it (not what is built in)."""
    # a runc without a type of its own is still runc (container-toolkit#1956)
    return {"runtime_type": RUNC_V2} | _said(handler.table, built_in=False)


def _covering(name: str, before: Effective, wanted: Wanted) -> dict[str, Plain]:
    """An alias for releases that merge: what another file says of the same handler is set to its empty value."""
    alias = _alias(_source(before, wanted))
    existing = before.handlers.get(name)
    return _cover(_said(existing.table), alias) if existing is not None else alias


def _cover(existing: dict[str, Plain], alias: dict[str, Plain]) -> dict[str, Plain]:
    covered = dict(alias)
    for key, value in existing.items():
        own = alias.get(key)
        if isinstance(value, dict):
            covered[key] = _cover(value, own if isinstance(own, dict) else {})
        elif key not in alias and isinstance(value, (str, bool, int, float, list)):
            covered[key] = type(value)()
    return covered


def _said(table: Table, *, built_in: bool = True) -> dict[str, Plain]:
    """What a table says that is not empty."""
    said: dict[str, Plain] = {}
    for name, node in table.items():
        if isinstance(node, Table):
            said |= {name: inner} if (inner := _said(node, built_in=built_in)) else {}
        elif node.value and (built_in or not node.origin.is_built_in):
            said[name] = node.value
    return said


def _check(node: _Node, wanted: Wanted, planned: Files, after: Effective | ConfigError) -> Refusal | None:
    if isinstance(after, ConfigError):
        message = f"with our drop-in containerd {node.release} would not start: {after}"
        return Refusal("containerd/config-refused", message, after)
    missing = [name for name in wanted.handlers if name not in after.handlers]
    if missing:
        return _lost(missing, node, planned, after)
    changes = tuple(_unintended(node.before, after, wanted))
    if changes:
        message = f"our drop-in would change {len(changes)} other setting(s), first {changes[0]}"
        return Refusal("containerd/dropin-side-effect", message, changes=changes)
    return _wrong(node, wanted, after) or _breaks(node, after)


def _breaks(node: _Node, after: Effective) -> Refusal | None:
    """A CRI plugin that would not load with our drop-in; one that does not load without it either is not our doing."""
    problems = cri_problems(after)
    if not problems or cri_problems(node.before):
        return None
    message = f"with our drop-in the CRI plugin would not load: {problems[0].message} ({problems[0].origin})"
    return Refusal("containerd/cri-invalid", message)


def _lost(missing: Sequence[str], node: _Node, planned: Files, after: Effective) -> Refusal:
    lost = tuple(item for item in lost_handlers(after, planned) if item.name in missing)
    winner = next((item.winner for item in lost if item.winner), None)
    reason = f"{lost[0].loss.value} ({winner})" if lost and winner else lost[0].loss.value if lost else "it is not read"
    message = f"handler {missing[0]} of {node.dropin} would not be in effect: {reason}"
    return Refusal("containerd/dropin-overridden", message, lost=lost)


def _wrong(node: _Node, wanted: Wanted, after: Effective) -> Refusal | None:
    if wanted.enable_cdi and node.release.family.cdi_switch and after.enable_cdi is not True:
        return Refusal("containerd/cdi-disabled", f"enable_cdi stays {after.enable_cdi}, a later file sets it")
    if wanted.default and after.default_runtime_name != wanted.default:
        message = f"default_runtime_name stays {after.default_runtime_name}, expected {wanted.default}"
        return Refusal("containerd/default-runtime", message)
    source = _source(node.before, wanted)
    for name in wanted.handlers:
        if _said(after.handlers[name].table) != _alias(source):
            message = f"handler {name} would not be an alias of {source.name}: another file adds to it"
            return Refusal("containerd/handler-differs", message)
    return None


def _unintended(before: Effective, after: Effective, wanted: Wanted) -> Iterable[Change]:
    old, new = _flat(before.document), _flat(after.document)
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path) and not _intended(path, after, wanted):
            yield Change(path, old.get(path), new.get(path))


def _flat(document: Table) -> dict[tuple[str, ...], Plain]:
    return {path: leaf.value for path, leaf in leaves(document) if leaf.value}  # absent and empty mean the same


def _intended(path: tuple[str, ...], after: Effective, wanted: Wanted) -> bool:
    if path == ("imports",):
        return True
    if path[:2] != ("plugins", after.release.family.cri.runtime):
        return path[0] == "plugins" and path[1] in (CRI_RUNTIME, CRI) and not _is_read(path, after)
    match path[2:]:
        case ("containerd", "runtimes", name, *_):
            return name in wanted.handlers
        case ("containerd", "default_runtime_name"):
            return wanted.default is not None
        case ("enable_cdi",):
            return wanted.enable_cdi
        case _:
            return False


def _is_read(path: tuple[str, ...], after: Effective) -> bool:
    """False for a leftover section under a name that this release keeps but does not use."""
    return find(baseline(after.release.family.baseline), "plugins", path[1]) is not None
