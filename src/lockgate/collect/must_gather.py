"""The folder that NVIDIA's `must-gather.sh` leaves (gpu-operator 26.7, hack): what people attach to issues.

It is flat, has no Events list and no nodes as objects, and only the pods of the operator's namespace: nodes are read
from `describe`, events from the operand pods' descriptions, and what other pods hold stays unknown. Files that the
script could not fill are there and empty.
"""

import io
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from lockgate.collect.bounds import MAX_HELD, MAX_LOG, MAX_TEXT, too_large
from lockgate.collect.bug_report import parse_bug_report, report_of
from lockgate.collect.cut_lists import cut
from lockgate.collect.decode import lenient_text, objects_of
from lockgate.collect.describe import looks_described, parse_described
from lockgate.collect.describe_node import parse_nodes
from lockgate.collect.device_usage import parse_device_usage, usage_of
from lockgate.collect.errors import InputError
from lockgate.collect.left_members import LeftMembers
from lockgate.collect.members import Member, members
from lockgate.model.facts import API_SECTIONS, BY_PLURAL, LeftOut, Log, Missing, NodeFiles, Snapshot
from lockgate.model.objects import Event

_PLACE = re.compile(r"^(?:[^/]+/){0,2}(?P<name>[^/]+)$")
_KNOWN = re.compile(
    r"gpu_nodes\.descr|gpu_operand_pods\.yaml|gpu_operator_pod\.(?:yaml|log|previous\.log)|gpu_operand_ds\.yaml"
    r"|cluster_policy\.(?:yaml|missing)|nvidiadrivers\.yaml|gpu_operand_pod_.+\.(?:log|descr)|must-gather\.log"
    r"|nvidia-bug-report_.+\.log(?:\.gz)?|gpu_device_usage_.+\.log"
)
_MARKS = ("must-gather.log", "gpu_operand_pods.yaml", "gpu_operand_ds.yaml", "gpu_nodes.descr")
_LINE = re.compile(r"^\[pod/(?P<pod>[^/\]]+)/(?P<container>[^\]]+)\] (?P<text>.*)$")
_YAML = {
    "gpu_operand_pods.yaml": "pods",
    "gpu_operator_pod.yaml": "pods",
    "gpu_operand_ds.yaml": "daemonsets",
    "cluster_policy.yaml": "clusterpolicies",
    "nvidiadrivers.yaml": "nvidiadrivers",
}
_REASON = "NVIDIA's must-gather does not hold it"


def is_must_gather(names: Iterable[str]) -> bool:
    """Whether file names are those of a must-gather folder."""
    places = (_PLACE.match(name) for name in names)
    return any(place["name"] in _MARKS for place in places if place)


def is_wanted(path: str) -> bool:
    """Whether a file is one that we read."""
    place = _PLACE.match(path)
    return place is not None and _KNOWN.fullmatch(place["name"]) is not None


def from_must_gather(root: Path) -> Snapshot:
    """The facts of a must-gather folder, or an archive of one; raises InputError where a file in it is broken."""
    left = LeftMembers()
    there = _contents(root, left)
    files = {name: data for name, data in there.items() if data.strip()}
    found: dict[str, Any] = {s.section: Missing(_REASON, f"kubectl get {s.plural} -A -o json") for s in API_SECTIONS}
    cuts = dict[str, Missing]()
    for name, plural in _YAML.items():
        if name in files:
            section = BY_PLURAL[plural]
            stream = io.BufferedReader(io.BytesIO(files[name]))
            objects = tuple(objects_of(name, stream, section, partial(_note_cut, cuts, section.section, name)))
            before = found[section.section]
            found[section.section] = objects if isinstance(before, Missing) else (*before, *objects)
    if "gpu_nodes.descr" in files:
        found["nodes"] = parse_nodes("gpu_nodes.descr", _text("gpu_nodes.descr", files["gpu_nodes.descr"]))
    # Only the operator's namespace is there: what others hold on the nodes is not known.
    found["namespace_pods"] = found["pods"]
    found["pods"] = Missing(f"{_REASON}: only the operator's pods", "kubectl get pods -A -o json")
    if "cluster_policy.missing" in there:
        found["cluster_policies"] = ()
    found |= {section: missing for section, missing in cuts.items() if section != "pods"}
    found["events"] = tuple(_events(files))
    logs = tuple(_logs(files, found["namespace_pods"]))
    found["logs"] = logs or Missing(_REASON, "kubectl logs")
    reports = tuple(_of_nodes(files))
    lacking = Missing(_REASON, "copy /etc/containerd and /etc/cdi of the node into nodes/<node>/")
    found["node_files"] = reports or lacking
    torn = (LeftOut("pods", cuts["pods"].reason, cuts["pods"].how),) if "pods" in cuts else ()
    return Snapshot(left_out=(*left.told(), *torn), **found)


def _note_cut(cuts: dict[str, Missing], section: str, name: str, kind: str, more: int) -> None:
    cuts[section] = cut(name, section, more)


def _contents(root: Path, left: LeftMembers) -> dict[str, bytes]:
    """Each file by its name, of a log the end."""
    found, held = dict[str, bytes](), 0
    for member in members(root, is_wanted, left.add):
        name = member.path.rpartition("/")[2]
        found[name] = _of_member(member, name)
        held += len(found[name])
        if held > MAX_HELD:
            raise too_large(f"{root} without the beginnings of logs", held, MAX_HELD)
    return found


def _of_member(member: Member, name: str) -> bytes:
    """Of a log the end, of what uses devices the beginning: what `nvidia-smi` prints stands there, and lists follow."""
    if report_of(name):
        return member.read(MAX_HELD)
    if usage_of(name):
        return member.stream.read(MAX_LOG)
    return member.tail(MAX_LOG) if name.endswith(".log") else member.read(MAX_TEXT)


def _text(name: str, data: bytes) -> str:
    if len(data) > MAX_TEXT:
        raise too_large(name, len(data), MAX_TEXT)
    return lenient_text(data)


def _events(files: dict[str, bytes]) -> Iterator[Event]:
    """The events that stand below the operand pods' descriptions."""
    for name, data in sorted(files.items()):
        if not (name.startswith("gpu_operand_pod_") and name.endswith(".descr")):
            continue
        text = _text(name, data)
        if looks_described(text):
            try:
                described = parse_described(name, text)
            except InputError:
                continue  # an amount that no quantity is: the pod itself comes from the YAML
            yield from () if isinstance(described.events, Missing) else described.events


def _of_nodes(files: dict[str, bytes]) -> Iterator[NodeFiles]:
    """What the driver pods' bug reports tell of their nodes, and what uses the devices there."""
    used = ((usage_of(name), data) for name, data in sorted(files.items()))
    outputs = {node: parse_device_usage(lenient_text(data)) for node, data in used if node}
    for name, data in sorted(files.items()):
        named = report_of(name)
        if named is not None and named["node"]:
            report = parse_bug_report(name, data)
            yield NodeFiles(named["node"], report.files, outputs.pop(named["node"], {}) | report.outputs)
    yield from (NodeFiles(node, {}, found) for node, found in outputs.items() if found)


def _logs(files: dict[str, bytes], pods: Any) -> Iterator[Log]:
    """One log a container, out of files that hold those of all containers of a pod, each line with its place."""
    namespaces = {} if isinstance(pods, Missing) else {pod.name: pod.namespace for pod in pods}
    for name, data in sorted(files.items()):
        if not (name.startswith("gpu_oper") and name.endswith(".log")):
            continue
        lines: dict[tuple[str, str], list[str]] = {}
        for line in lenient_text(data).splitlines():
            if place := _LINE.match(line):
                lines.setdefault((place["pod"], place["container"]), []).append(_untimed(place["text"]))
        for (pod, container), texts in lines.items():
            yield Log(namespaces.get(pod, ""), pod, container, "\n".join(texts), name.endswith(".previous.log"))


def _untimed(text: str) -> str:
    """Without the moment that `--timestamps` puts before a line."""
    moment, _, rest = text.partition(" ")
    return rest if re.fullmatch(r"\d{4}-\d\d-\d\dT\S+", moment) else text
