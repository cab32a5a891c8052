"""What differs between two moments of a cluster: findings, objects by field, files by line. Times do not count."""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.operand_names import short_name
from lockgate.diagnosis.target import CLUSTER, Target, TargetMissingError
from lockgate.diagnosis.views.gate_one import gpu_asked
from lockgate.model import names
from lockgate.model.facts import API_SECTIONS, Missing, Snapshot
from lockgate.model.finding import Finding, Severity
from lockgate.model.objects import Pod
from lockgate.rules import all_rules

# Fields that change without anything being different.
_NOISE: Final = re.compile(
    r"(?:^|\.)(?:resourceVersion|uid|generation|observedGeneration|creationTimestamp|deletionTimestamp|startedAt"
    r"|finishedAt|lastTransitionTime|lastHeartbeatTime|lastProbeTime|observedAt|updatedAt|containerID|podIP|hostIP)$"
)
_WORD: Final = re.compile(r"redacted(?:-on-node)?-\d+")  # numbered anew in every bundle
_CLOCK: Final = re.compile(r"(?m)^\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4} *\n")  # the first line of nvidia-smi
# What a list's items are told apart by.
_KEYS: Final = ("name", "type", "key", "path", "uuid", "resource")
_LEFT_OUT: Final = ("events", "namespaces")


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """A part of the comparison; names are stable."""


class Change(Part, frozen=True):
    """One field of an object in both moments; None where it is not there."""

    field: str
    before: Any
    after: Any


class Object(Part, frozen=True, kw_only=True):
    """An object that came (`added`), went (`removed`) or `changed`."""

    section: str
    name: str
    change: str
    fields: tuple[Change, ...] = ()


class File(Part, frozen=True, kw_only=True):
    """A file or an output of a node that differs, as the lines of a unified diff."""

    node: str
    path: str
    change: str
    lines: tuple[str, ...] = ()


class Comparison(Part, frozen=True, kw_only=True):
    """Everything that differs; `unknown` says what only one side knows, `others` counts pods without GPUs."""

    appeared: tuple[Finding, ...]
    gone: tuple[Finding, ...]
    objects: tuple[Object, ...]
    files: tuple[File, ...]
    others: int
    unknown: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0 nothing differs, 3 an error or blocker appeared, 4 anything else differs."""
        if any(f.severity.rank >= Severity.ERROR.rank for f in self.appeared):
            return 3
        return 4 if any((self.appeared, self.gone, self.objects, self.files, self.others, self.unknown)) else 0


def compare(before: Snapshot, after: Snapshot) -> Comparison:
    """Sections that both sides know are compared by object, those of one side are named."""
    old, new = _findings(before), _findings(after)
    unknown, objects, others = [], [], 0
    for section in (s for s in API_SECTIONS if s.section not in _LEFT_OUT):
        one, other = getattr(before, section.section), getattr(after, section.section)
        if isinstance(one, Missing) and isinstance(other, Missing):
            continue
        if isinstance(one, Missing) or isinstance(other, Missing):
            missing = one if isinstance(one, Missing) else other
            unknown.append(f"{section.plural}: only the {_side(one)} side knows them ({missing.reason})")
            continue
        differing = list(_objects(section.plural, one, other))
        objects += [o for o, telling in differing if telling]
        others += sum(not telling for _, telling in differing)
    return Comparison(
        appeared=tuple(f for key, f in new.items() if key not in old),
        gone=tuple(f for key, f in old.items() if key not in new),
        objects=tuple(objects),
        files=tuple(_files(before, after)),
        others=others,
        unknown=tuple(unknown),
    )


def _side(one: object) -> str:
    return "second" if isinstance(one, Missing) else "first"


# --- findings


def _findings(snapshot: Snapshot) -> dict[tuple[str, ...], Finding]:
    try:
        found = diagnose(snapshot, Target(CLUSTER, ""), all_rules()).findings
    except TargetMissingError:
        return {}
    return {(f.id, f.about, *sorted(f.affects)): f for f in found}


# --- objects


def _objects(plural: str, before: Iterable[Any], after: Iterable[Any]) -> Iterator[tuple[Object, bool]]:
    """What differs, and whether it is worth a line: of pods only those that have to do with GPUs."""
    old, new = _by_name(before), _by_name(after)
    for name in sorted(old.keys() | new.keys()):
        one, other = old.get(name), new.get(name)
        telling = _is_telling(one) or _is_telling(other)
        if one is None or other is None:
            yield Object(section=plural, name=name, change="removed" if other is None else "added"), telling
        elif fields := tuple(_changes(one, other)):
            yield Object(section=plural, name=name, change="changed", fields=fields), telling


def _by_name(objects: Iterable[Any]) -> dict[str, Any]:
    return {f"{o.namespace}/{o.name}" if o.namespace else o.name: o for o in objects}


def _is_telling(found: Any) -> bool:
    return found is not None and (not isinstance(found, Pod) or bool(gpu_asked(found)) or bool(short_name(found)))


def _changes(before: Any, after: Any) -> Iterator[Change]:
    if before == after:
        return
    old, new = dict(_leaves(msgspec.to_builtins(before))), dict(_leaves(msgspec.to_builtins(after)))
    for field in sorted(old.keys() | new.keys()):
        if old.get(field) != new.get(field):
            yield Change(field, old.get(field), new.get(field))


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its path: `status.conditions[Ready].status`, `metadata.labels[nvidia.com/gpu.count]`."""
    match value:
        case dict():
            for key, each in value.items():
                yield from _leaves(each, f"{path}[{key}]" if "/" in key or "." in key else f"{path}.{key}".lstrip("."))
        case list() | tuple() if value and all(isinstance(each, str) for each in value):
            yield from ((f"{path}[{_WORD.sub('redacted', each)}]", "there") for each in value)
        case list() | tuple():
            for index, each in enumerate(value):
                key = _key(each)
                rest = {k: v for k, v in each.items() if k != key} if key else each
                yield from _leaves(rest, f"{path}[{each[key] if key else index}]")
        case _ if not _NOISE.search(path):
            yield path, _WORD.sub("redacted", value) if isinstance(value, str) else value
        case _:
            return


def _key(item: Any) -> str:
    """The field that names an item of a list; "" where none does and its place has to."""
    return next((key for key in _KEYS if isinstance(item.get(key), str)), "") if isinstance(item, dict) else ""


# --- files of nodes


def _files(before: Snapshot, after: Snapshot) -> Iterator[File]:
    for pick in (_texts("files"), _texts("outputs")):
        old, new = pick(before), pick(after)
        if old is None or new is None:
            continue
        for place in sorted(old.keys() | new.keys()):
            one, other = old.get(place), new.get(place)
            if one is None or other is None:
                yield File(node=place[0], path=place[1], change="removed" if other is None else "added")
            elif one != other:
                lines = difflib.unified_diff(one.splitlines(), other.splitlines(), "before", "after", "", "", 2, "")
                yield File(node=place[0], path=place[1], change="changed", lines=tuple(lines)[2:])


def _texts(field: str) -> Callable[[Snapshot], dict[tuple[str, str], str] | None]:
    def pick(snapshot: Snapshot) -> dict[tuple[str, str], str] | None:
        if isinstance(snapshot.node_files, Missing):
            return None
        found: dict[tuple[str, str], str] = {}
        for folder in snapshot.node_files:
            texts: Mapping[str, str] = getattr(folder, field)
            found |= {(folder.node, path): _CLOCK.sub("", _WORD.sub("redacted", t)) for path, t in texts.items()}
        return found

    return pick


def as_dict(names_: tuple[str, str], seen: Comparison) -> dict[str, Any]:
    """One document with a version."""
    body: dict[str, Any] = msgspec.to_builtins(seen)
    return {"apiVersion": names.API_VERSION, "kind": "BundleComparison", "before": names_[0], "after": names_[1]} | body
