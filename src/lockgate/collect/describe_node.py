"""Text of `kubectl describe nodes`: labels, taints, numbers, conditions and versions of each node."""

import re
from collections.abc import Iterator

from lockgate.collect.describe import first, pairs, sections
from lockgate.collect.describe_containers import NONE
from lockgate.collect.quantities import check_quantities
from lockgate.model.objects import Condition, Metadata, Node, NodeInfo, NodeSpec, NodeStatus, Taint

_STATUSES = ("True", "False", "Unknown")


def parse_nodes(name: str, text: str) -> tuple[Node, ...]:
    """Every node that a text describes; raises InputError where an amount is none."""
    parts = re.split(r"(?m)^(?=Name:\s)", text.replace("\r\n", "\n"))
    nodes = tuple(_node(dict(sections(part.strip("\n")))) for part in parts if "\nCapacity:" in part)
    for node in nodes:
        check_quantities(name, node)
    return nodes


def _node(fields: dict[str, list[str]]) -> Node:
    info = dict(_amounts(fields.get("System Info", [])))
    return Node(
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
    )


def _amounts(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines[1:]:
        key, colon, value = line.strip().partition(":")
        if colon and value.strip():
            yield key, value.strip()


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
