"""Whether a planned drop-in does what it should, and nothing else: simulated, compared key by key, or refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lockgate.containerd.baselines import baseline
from lockgate.containerd.dropin_node import Node, Wanted
from lockgate.containerd.dropin_text import alias_of, said, source_handler
from lockgate.containerd.effective import Effective
from lockgate.containerd.imports import Files
from lockgate.containerd.load import ConfigError
from lockgate.containerd.migrate_cri import CRI, CRI_RUNTIME
from lockgate.containerd.traps import LostHandler, lost_handlers
from lockgate.containerd.validate import cri_problems
from lockgate.containerd.values import Plain, Table, dotted, find, leaves


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


def hopeless(node: Node) -> Refusal | None:
    """Why no drop-in can help, if so."""
    if not node.before.cri_disabled:
        return None
    place = node.before.provenance("disabled_plugins")
    return Refusal(
        "containerd/cri-disabled", f"the CRI plugin is disabled ({place}): the kubelet cannot use containerd"
    )


def check(node: Node, wanted: Wanted, planned: Files, after: Effective | ConfigError) -> Refusal | None:
    """Why the planned files must not be written, if so."""
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


def _breaks(node: Node, after: Effective) -> Refusal | None:
    """A CRI plugin that would not load with our drop-in; one that does not load without it either is not our doing."""
    problems = cri_problems(after)
    if not problems or cri_problems(node.before):
        return None
    message = f"with our drop-in the CRI plugin would not load: {problems[0].message} ({problems[0].origin})"
    return Refusal("containerd/cri-invalid", message)


def _lost(missing: Sequence[str], node: Node, planned: Files, after: Effective) -> Refusal:
    lost = tuple(item for item in lost_handlers(after, planned) if item.name in missing)
    winner = next((item.winner for item in lost if item.winner), None)
    reason = f"{lost[0].loss.value} ({winner})" if lost and winner else lost[0].loss.value if lost else "it is not read"
    message = f"handler {missing[0]} of {node.dropin} would not be in effect: {reason}"
    return Refusal("containerd/dropin-overridden", message, lost=lost)


def _wrong(node: Node, wanted: Wanted, after: Effective) -> Refusal | None:
    if wanted.enable_cdi and node.release.family.cdi_switch and after.enable_cdi is not True:
        return Refusal("containerd/cdi-disabled", f"enable_cdi stays {after.enable_cdi}, a later file sets it")
    if wanted.default and after.default_runtime_name != wanted.default:
        message = f"default_runtime_name stays {after.default_runtime_name}, expected {wanted.default}"
        return Refusal("containerd/default-runtime", message)
    source = source_handler(node.before, wanted)
    for name in wanted.handlers:
        if said(after.handlers[name].table) != alias_of(source):
            message = f"handler {name} would not be an alias of {source.name}: another file adds to it"
            return Refusal("containerd/handler-differs", message)
    return None


def _unintended(before: Effective, after: Effective, wanted: Wanted) -> Iterator[Change]:
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
