"""A folder or archive that a person filled, or our own bundle (reference/input-folder layout), as a Snapshot.

`cluster/<resource>.json|yaml`, `logs/<namespace>/<pod>/<container>[.previous].log`, `nodes/<node>/<path>`; one folder
above them is looked through. Everything is optional: what is absent is Missing.
"""

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from lockgate.collect import must_gather
from lockgate.collect.bounds import MAX_HELD, MAX_LOG, MAX_TEXT
from lockgate.collect.bug_report import parse_bug_report, report_of
from lockgate.collect.bundle_manifest import BundleManifest, Part, parse_bundle_manifest
from lockgate.collect.cut_lists import without_cut
from lockgate.collect.decode import lenient_text, objects_of
from lockgate.collect.errors import InputError
from lockgate.collect.exporter import parse_readings
from lockgate.collect.left_members import LeftMembers
from lockgate.collect.members import Member, members
from lockgate.collect.other_texts import complaint
from lockgate.collect.taken import Taken
from lockgate.collect.torn_areas import TornAreas
from lockgate.model.facts import (
    API_SECTIONS,
    BY_PLURAL,
    ApiSection,
    LeftOut,
    Log,
    Missing,
    NodeFiles,
    Reading,
    Snapshot,
)

_PLACE = re.compile(r"^(?:[^/]+/){0,2}?(?P<area>cluster|logs|nodes)/(?P<rest>.+)$")
# Of a bundle that `collect` wrote: what it could not read, and when it looked.
_MANIFEST = re.compile(r"^(?:[^/]+/){0,2}manifest\.json$")
_CLUSTER = re.compile(r"^(?P<plural>[a-z]+)(?:\.[a-z0-9.-]+?)?\.(?:json|ya?ml)$")
_LOG = re.compile(r"^(?P<namespace>[^/]+)/(?P<pod>[^/]+)/(?P<container>[^/]+?)(?P<previous>\.previous)?\.log$")
_NODE = re.compile(r"^(?P<node>[^/]+)/(?P<path>.+)$")
# What else a person or a collector may have put into a node's folder is not read.
NODE_PATHS = (
    *("etc/containerd/", "etc/cdi/", "etc/crio/", "var/run/cdi/", "run/cdi/", "proc/", "var/lib/rancher/"),
    *("etc/nvidia-container-runtime/", "var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"),
)
_HEAD = 1024
_METRICS = ("metrics", "dcgm-exporter")  # of a node's exporter, as it publishes them
_COMMAND = re.compile(r"^[A-Za-z0-9._-]+\.(?:txt|json|toml|log)$")


class NoLayoutError(InputError):
    """The folder is laid out in none of the ways that are known."""


class _Parts:
    """What has been read so far."""

    def __init__(self, name: str, asked: str) -> None:
        self.objects = Taken(name, asked)
        self.logs: list[Log] = []
        self.nodes: dict[str, tuple[dict[str, str], dict[str, str]]] = {}
        self.held = 0
        self.unheld: Counter[str] = Counter()
        self.manifest: BundleManifest | None = None
        self.complaints: dict[str, Missing] = {}  # of kubectl, by section
        self.left, self.torn = LeftMembers(), TornAreas()
        self.unopened: dict[str, Missing] = {}  # lists that are no files to be read, by section

    def holds(self, section: str, size: int) -> bool:
        """Whether a text of some size is still kept; what is not is counted."""
        if self.held + size > MAX_HELD:
            self.unheld[section] += 1
            return False
        self.held += size
        return True

    def leave_out(self, path: str, why: str) -> None:
        """Remember what is no file to be read."""
        place = _PLACE.match(path)
        named = _CLUSTER.match(place["rest"]) if place and place["area"] == "cluster" else None
        if named is not None and named["plural"] in BY_PLURAL:
            section = BY_PLURAL[named["plural"]]
            self.unopened[section.section] = Missing(f"{path} {why}", f"kubectl get {section.plural} -A -o json")
        elif not self.torn.note(path, why):
            self.left.add(path, why)

    @property
    def left_out(self) -> Iterator[LeftOut]:
        """What was read and not kept, or not read."""
        yield from self.left.told()
        yield from self.torn.told()
        yield from self.objects.left_out
        for section, count in self.unheld.items():
            reason = (
                f"{count:,} files of them were not read: logs and files of nodes are more than {MAX_HELD >> 20} MiB"
            )
            yield LeftOut(section, reason, "send those of the pod's namespace and node alone", decides=True)


def from_folder(root: Path, asked: str = "") -> Snapshot:
    """The facts of a folder or archive; raises InputError where it is none, or a file in it is broken.

    `asked` is the name of what is asked about: of more events than are kept, its own are.
    """
    parts, flat = _Parts(str(root), asked), list[str]()

    def wanted(path: str) -> bool:
        flat.extend([path] if must_gather.is_wanted(path) else [])
        return is_wanted(path)

    for member in members(root, wanted, parts.leave_out):
        _take(parts, member)
    if not (parts.objects or parts.logs or parts.nodes or parts.complaints):
        if must_gather.is_must_gather(flat):
            return must_gather.from_must_gather(root)
        unread = "; ".join((*(m.reason for m in parts.unopened.values()), *(part.reason for part in parts.left_out)))
        raise NoLayoutError(
            f"{root}: holds none of cluster/<resource>.json, logs/<namespace>/<pod>/<container>.log, nodes/<node>/... "
            f"and no other files of kubectl get -o json|yaml or kubectl describe{f' ({unread})' if unread else ''}"
        )
    return _snapshot(parts)


def is_wanted(path: str) -> bool:
    """Whether a path of a folder is one that we read."""
    if _MANIFEST.match(path):
        return True
    place = _PLACE.match(path)
    if place is None:
        return False
    rest = place["rest"]
    match place["area"]:
        case "cluster":
            named = _CLUSTER.match(rest)
            return named is not None and named["plural"] in BY_PLURAL
        case "logs":
            return _LOG.match(rest) is not None
        case _:
            inside = _NODE.match(rest)
            return inside is not None and _is_node_file(inside["path"])


def _is_node_file(path: str) -> bool:
    return path.startswith(NODE_PATHS) or _COMMAND.match(path) is not None or report_of(path) is not None


def _take(parts: _Parts, member: Member) -> None:
    if _MANIFEST.match(member.path):
        parts.manifest = parse_bundle_manifest(member.read(MAX_TEXT))
    place = _PLACE.match(member.path)
    if place is None:
        return
    match place["area"]:
        case "cluster":
            _take_objects(parts, member, place["rest"])
        case "logs":
            _take_log(parts, member, place["rest"])
        case _:
            _take_node_file(parts, member, place["rest"])


def _take_objects(parts: _Parts, member: Member, rest: str) -> None:
    named = _CLUSTER.match(rest)
    if named is not None:
        section, name = BY_PLURAL[named["plural"]], f"cluster/{rest}"
        if said := complaint(lenient_text(member.stream.peek(_HEAD)[:_HEAD])):
            parts.complaints[section.section] = _complained(name, section, said)
            return
        note = partial(_note_cut, parts, section.section, name)
        parts.objects.add(section.section, objects_of(name, member.stream, section, note))


def _complained(name: str, section: ApiSection, said: str) -> Missing:
    """Why kubectl gave no list: somebody wrote that into the file in its place."""
    how = f"kubectl get {section.plural} -A -o json"
    return Missing(f"{name}: {said}", how, refused="(Forbidden)" in said, unserved="have a resource type" in said)


def _note_cut(parts: _Parts, section: str, name: str, kind: str, more: int) -> None:
    parts.objects.note_cut(section, name, more)


def _take_log(parts: _Parts, member: Member, rest: str) -> None:
    named = _LOG.match(rest)
    if named is not None and parts.holds("logs", min(member.size, MAX_LOG)):
        text = lenient_text(member.tail(MAX_LOG))
        log = Log(named["namespace"], named["pod"], named["container"], text, bool(named["previous"]))
        parts.logs.append(log)


def _take_node_file(parts: _Parts, member: Member, rest: str) -> None:
    inside = _NODE.match(rest)
    if inside is None or not parts.holds("node_files", member.size):
        return
    files, outputs = parts.nodes.setdefault(inside["node"], ({}, {}))
    if report_of(inside["path"]):
        report = parse_bug_report(f"nodes/{rest}", member.read())
        parts.nodes[inside["node"]] = (report.files | files, report.outputs | outputs)
        return
    path, text = inside["path"], lenient_text(member.read(MAX_TEXT))
    if "/" in path:
        files[f"/{path}"] = text
    else:
        outputs[path.removesuffix(".txt")] = text


def _snapshot(parts: _Parts) -> Snapshot:
    found: dict[str, Any] = {**parts.objects.sections, "left_out": tuple(parts.left_out)}
    told = parts.manifest.sections if parts.manifest else {}
    for section in API_SECTIONS:
        gap = told.get(section.plural, Part())
        reason = gap.missing or gap.not_served or f"no cluster/{section.plural}.json"
        how = gap.how or f"kubectl get {section.plural} -A -o json"
        absent = Missing(reason, how, unserved=bool(gap.not_served))
        found.setdefault(section.section, (parts.complaints | parts.unopened).get(section.section, absent))
    if parts.nodes:
        found["node_files"] = tuple(
            NodeFiles(n, parts.torn.whole(n, files), out) for n, (files, out) in sorted(parts.nodes.items())
        )
    else:
        found["node_files"] = Missing("no nodes/<node>/", "copy /etc/containerd and /etc/cdi of the node there")
    found["logs"] = tuple(parts.logs) if parts.logs else Missing("no logs/", "kubectl logs")
    found["readings"] = _readings(parts)
    found["namespace_pods"] = found["pods"]
    if (gap := told.get("pods", Part())).only:
        found["pods"] = Missing(gap.lacking, gap.how)
    found |= without_cut(found, parts.objects.cuts, "" if parts.manifest else "cluster/pods.json")
    if parts.manifest is None:
        return Snapshot(taken_at=latest_moment(found), **found)
    return Snapshot(taken_at=parts.manifest.taken_at, narrowing=parts.manifest.narrowed, **found)


def _readings(parts: _Parts) -> tuple[Reading, ...] | Missing:
    """What exporters published, of nodes whose folder holds it."""
    texts = {node: out[name] for node, (_, out) in sorted(parts.nodes.items()) for name in _METRICS if name in out}
    if not texts:
        return Missing("no nodes/<node>/dcgm-exporter.txt", "curl <exporter>:9400/metrics")
    try:
        return tuple(reading for node, text in texts.items() for reading in parse_readings(node, text))
    except ValueError as error:
        return Missing(f"nodes/{', '.join(texts)}: no metrics text of an exporter ({error})")


def latest_moment(sections: dict[str, Any]) -> dt.datetime | None:
    """The latest moment that any object speaks of: about when the facts were taken."""
    moments = list(_moments(sections))
    return max(moments, default=None)


def _moments(sections: dict[str, Any]) -> Iterable[dt.datetime]:
    for name in ("events", "pods", "nodes"):
        objects = sections.get(name)
        if isinstance(objects, Missing) or not objects:
            continue
        for each in objects:
            yield from (m for m in _moments_of(each) if m is not None and m.tzinfo is not None)


def _moments_of(each: Any) -> Iterable[dt.datetime | None]:
    yield each.metadata.creation_timestamp
    yield getattr(each, "last_seen", None)
    status = getattr(each, "status", None)
    for condition in getattr(status, "conditions", ()):
        yield condition.last_transition_time
        yield condition.last_heartbeat_time
