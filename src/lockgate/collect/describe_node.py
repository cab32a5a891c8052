"""Text of `kubectl describe nodes`: labels, taints, numbers, conditions and versions of each node."""

import re
from collections.abc import Iterator

from lockgate.collect.describe import first, pairs, sections
from lockgate.collect.describe_containers import NONE
from lockgate.collect.describe_events import events_about
from lockgate.collect.quantities import check_quantities
from lockgate.model.facts import API_SECTIONS, Missing, Snapshot
from lockgate.model.objects import Condition, Metadata, Node, NodeInfo, NodeSpec, NodeStatus, ObjectReference, Taint
from lockgate.model.told import ToldNode

_STATUSES = ("True", "False", "Unknown")


def looks_like_node(text: str) -> bool:
    """Whether a text is what `kubectl describe node` prints."""
    return re.match(r"\s*Name:[ \t]+\S", text) is not None and "\nCapacity:" in text and "\nAllocatable:" in text


def parse_described_nodes(name: str, text: str) -> Snapshot:
    """The described nodes and their events; what runs on them is not shown with what it requests, so it is Missing."""
    absent = {
        s.section: Missing("a description of a node does not show it", f"kubectl get {s.plural} -A -o json")
        for s in API_SECTIONS
    }
    events = [e for fields in _described(text) for e in events_about(_ref(fields), fields.get("Events", []))]
    return Snapshot(**absent | {"nodes": parse_nodes(name, text), "events": tuple(events)})  # type: ignore[arg-type]


def _ref(fields: dict[str, list[str]]) -> ObjectReference:
    return ObjectReference(kind="Node", name=first(fields, "Name"))


def parse_nodes(name: str, text: str) -> tuple[Node, ...]:
    """Every node that a text describes; raises InputError where an amount is none."""
    nodes = tuple(_node(fields) for fields in _described(text))
    for node in nodes:
        check_quantities(name, node)
    return nodes


def _described(text: str) -> Iterator[dict[str, list[str]]]:
    for part in re.split(r"(?m)^(?=Name:\s)", text.replace("\r\n", "\n")):
        if "\nCapacity:" in part:
            yield dict(sections(part.strip("\n")))


def _node(fields: dict[str, list[str]]) -> Node:
    info = dict(_amounts(fields.get("System Info", [])))
    return ToldNode(
        metadata=Metadata(name=first(fields, "Name"), labels=dict(pairs(fields.get("Labels", [])))),
        spec=NodeSpec(
            unschedulable=first(fields, "Unschedulable") == "true", taints=tuple(_taints(fields.get("Taints", [])))
        ),
        status=NodeStatus(
            capacity=dict(_amounts(fields.get("Capacity", []))),
            allocatable=dict(_amounts(fields.get("Allocatable", []))),
            conditions=tuple(_conditions(fields.get("Conditions", []))),
            node_info=NodeInfo(
                kubelet_version=info.get("Kubelet Version", ""),
                container_runtime_version=info.get("Container Runtime Version", ""),
                kernel_version=info.get("Kernel Version", ""),
                os_image=info.get("OS Image", ""),
                architecture=info.get("Architecture", ""),
            ),
        ),
        requested=dict(_requested(fields.get("Allocated resources", []))),
        pods=tuple(_pods(fields.get("Non-terminated Pods", []))),
    )


def _amounts(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines[1:]:
        key, colon, value = line.strip().partition(":")
        if colon and value.strip():
            yield key, value.strip()


def _requested(lines: list[str]) -> Iterator[tuple[str, str]]:
    """`nvidia.com/gpu  8  8`, `cpu  8 (6%)  8 (6%)`: what all pods request of a resource, and their limits."""
    for words in map(str.split, lines):
        if len(words) >= 3 and words[1][:1].isdigit():
            yield words[0], words[1]


def _pods(lines: list[str]) -> Iterator[str]:
    """The namespace and the name of each pod of the table, whose other columns are amounts."""
    for words in map(str.split, lines[1:]):
        if len(words) > 2 and words[2][:1].isdigit():
            yield f"{words[0]}/{words[1]}"


def _taints(lines: list[str]) -> Iterator[Taint]:
    """`key=value:Effect` or `key:Effect`, one a line."""
    for line in (line.strip() for line in lines):
        if line and line not in NONE:
            pair, _, effect = line.rpartition(":")
            key, _, value = pair.partition("=")
            yield Taint(key=key, value=value, effect=effect)


def _conditions(lines: list[str]) -> Iterator[Condition]:
    """Columns stand two blanks apart: type, status, two moments, reason, message."""
    for line in lines:
        cells = re.split(r"\s{2,}", line.strip(), maxsplit=5)
        if len(cells) >= 5 and cells[1] in _STATUSES:
            yield Condition(type=cells[0], status=cells[1], reason=cells[4], message="".join(cells[5:]))
