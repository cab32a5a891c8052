"""How many GPUs each node has by whoever counts the hardware, beside what it offers."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from lockgate.diagnosis.gate_row import SHORT_OF_DEVICES, GateRow
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.model import names
from lockgate.model.facts import Missing, Nodes
from lockgate.model.finding import Evidence
from lockgate.model.objects import Labels, Node
from lockgate.scheduling.requests import amounts

# Counts that whoever made the node has put on it: Karpenter, GKE, and feature discovery at its last look.
_COUNTS: Final = (
    "karpenter.k8s.aws/instance-gpu-count",
    "karpenter.k8s.gcp/instance-gpu-count",
    "cloud.google.com/gke-accelerator-count",
    names.GPU_COUNT,
)
_PARTITIONED: Final = ("cloud.google.com/gke-gpu-partition-size", "cloud.google.com/gke-max-shared-clients-per-gpu")
# `lspci`: a 3D controller (0302) or VGA controller (0300) of NVIDIA, in words or as `lspci -nn` has it.
_PCI: Final = re.compile(
    r"^\S+ (?:3D|VGA compatible) controller(?: \[030[02]\])?: NVIDIA|^\S+ 030[02]: 10de:", re.MULTILINE
)


class Counted(msgspec.Struct, frozen=True):
    """What a node has and offers, in whole GPUs, each as so many slots; `evidence` is who counted."""

    has: int
    offers: int
    slots: int
    evidence: Evidence

    @property
    def lacks(self) -> bool:
        """Whether it offers fewer than it has."""
        return self.offers < self.has


class Hardware:
    """The nodes whose GPUs somebody counted."""

    def __init__(self, nodes: Mapping[str, Node], words: NodeWords | Missing) -> None:
        self._nodes, self._words = nodes, words
        self._known: dict[str, Counted | None] = {}

    def of(self, node: str) -> Counted | None:
        """What a node has and offers; None where GPUs are partitioned, or no count is known."""
        if node not in self._known:
            found = self._nodes.get(node)
            self._known[node] = _count(found, self._words) if found else None
        return self._known[node]

    def lacks(self, node: str) -> bool:
        """Whether a node is known to offer fewer GPUs than it has."""
        counted = self.of(node)
        return counted is not None and counted.lacks

    def explains(self, row: GateRow) -> bool:
        """Whether the pod would fit if all of the node's GPUs were offered, and never does as it is."""
        counted = self.of(row.node)
        if counted is None or not counted.lacks or not SHORT_OF_DEVICES.intersection(row.obstacles):
            return False
        return row.requested is not None and row.allocatable < row.asked <= counted.has * counted.slots - row.requested


def hardware(nodes: Nodes, node_words: NodeWords | Missing) -> Hardware:
    """Bring together who counted what; a node that nobody counted is not known."""
    return Hardware({node.name: node for node in nodes}, node_words)


def _count(node: Node, words: NodeWords | Missing) -> Counted | None:
    labels, capacity = node.metadata.labels, amounts(node.status.capacity).get(names.GPU, 0)
    split = any(label in labels for label in _PARTITIONED) or "-MIG-" in labels.get(names.GPU_PRODUCT, "")
    counts = [] if split or not capacity or _offers_others(node) else _told(node, words)
    if not counts:
        return None
    has, evidence = max(counts, key=lambda each: each[0])
    slots = _slots(capacity, labels)
    return Counted(has, capacity // slots, slots, evidence)


def _offers_others(node: Node) -> bool:
    offered = amounts(node.status.allocatable)
    return any(count and name != names.GPU and names.is_gpu_resource(name) for name, count in offered.items())


def _slots(capacity: int, labels: Labels) -> int:
    """Slots that each GPU is offered as; one where the sharing that labels speak of is not in force."""
    replicas = labels.get(names.GPU_REPLICAS, "")
    unshared = not replicas.isdecimal() or labels.get(names.GPU_COUNT) == str(capacity)
    return 1 if unshared else max(int(replicas), 1)


def _told(node: Node, words: NodeWords | Missing) -> list[tuple[int, Evidence]]:
    labels, place = node.metadata.labels, f"node/{node.name}"
    found = [
        (int(labels[key]), Evidence(object=place, field=f"metadata.labels[{key}]", value=labels[key]))
        for key in _COUNTS
        if labels.get(key, "").isdecimal()
    ]
    listed = "" if isinstance(words, Missing) else words.output(node.name, "lspci")
    if lines := _PCI.findall(listed):
        found.append(
            (len(lines), Evidence(file=f"{node.name}:lspci", value=str(len(lines)), note="NVIDIA controllers"))
        )
    return found
