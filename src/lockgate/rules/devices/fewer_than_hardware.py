"""The node offers fewer GPUs than it has.

A GPU that fell off the bus, or that the driver could not start, before the device plugin started is in no count of
Kubernetes: capacity and allocatable agree, and both are one too small.

Why it matters: nothing is unhealthy for the plugin, so no tool complains, and a node of 8 GPUs works as one of 7.
How to tell: a count of the hardware (`lspci`, the instance type's label, feature discovery's) is larger than the
capacity.
Fix: look at the kernel's log for `Xid 79`, `RmInitAdapter failed` or `fallen off the bus`; reset or replace the GPU,
then restart the device plugin of the node.
"""

import re

import msgspec

from lockgate.diagnosis.gate_row import SHORT_OF_DEVICES, GateRow
from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import gate_rows, listed
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.kit.counted import counted
from lockgate.model import names
from lockgate.model.facts import Missing, Nodes
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Labels, Node

# Counts that whoever made the node has put on it: Karpenter, GKE, and feature discovery at its last look.
_COUNTS = (
    "karpenter.k8s.aws/instance-gpu-count",
    "karpenter.k8s.gcp/instance-gpu-count",
    "cloud.google.com/gke-accelerator-count",
    names.GPU_COUNT,
)
_PARTITIONED = ("cloud.google.com/gke-gpu-partition-size", "cloud.google.com/gke-max-shared-clients-per-gpu")
# `lspci`: a 3D controller (0302) or VGA controller (0300) of NVIDIA, in words or as `lspci -nn` has it.
_PCI = re.compile(r"^\S+ (?:3D|VGA compatible) controller(?: \[030[02]\])?: NVIDIA|^\S+ 030[02]: 10de:", re.MULTILINE)


class _Lacking(msgspec.Struct, frozen=True):
    row: GateRow
    has: int
    offers: int
    evidence: Evidence


@rule(codes=("C08",), severity=Severity.WARNING, stages=(Stage.SCHEDULING, Stage.NODE))
def fewer_than_hardware(
    gate_one: GateOne, nodes: Nodes, node: Node | Missing, node_words: NodeWords
) -> Failed | Passed | None:
    if gate_one.resource != names.GPU:
        return None
    near = gate_one.rows if isinstance(node, Node) else gate_one.nearest_with(*SHORT_OF_DEVICES)
    by_name = {n.name: n for n in ((node,) if isinstance(node, Node) else nodes)}
    judged = [_judge(row, by_name[row.node], node_words) for row in near]
    found = [each for each in judged if each is not None and each.offers < each.has]
    if not found:
        same = [each.row.node for each in judged if each is not None]
        return Passed(f"every GPU of {listed(same)} is advertised") if same else None
    first = found[0]
    return Failed(
        about=f"node/{first.row.node}" if len(found) == 1 else "nodes",
        summary=f"{first.row.node} has {counted(first.has, 'GPU')} and offers {first.offers}.",
        reach=len(found),
        evidence=(*(each.evidence for each in found), *gate_rows(gate_one, [each.row for each in found])),
        remedy=(
            Remedy(
                f"On {first.row.node}, compare what the bus, the driver and the kernel say",
                "lspci -d 10de: ; nvidia-smi -L; dmesg | grep -iE 'NVRM|Xid' | tail",
                Risk.NONE,
            ),
        ),
    )


def _judge(row: GateRow, node: Node, words: NodeWords) -> _Lacking | None:
    """What the node has and offers, in whole GPUs; None where GPUs are partitioned, or no count is known."""
    labels = node.metadata.labels
    split = any(label in labels for label in _PARTITIONED) or "-MIG-" in labels.get(names.GPU_PRODUCT, "")
    counts = [] if split or row.others or not row.capacity else _hardware(node, words)
    if not counts:
        return None
    has, evidence = max(counts, key=lambda each: each[0])
    return _Lacking(row, has, row.capacity // _slots(row, labels), evidence)


def _slots(row: GateRow, labels: Labels) -> int:
    """Slots that each GPU is offered as; one where the sharing that labels speak of is not in force."""
    replicas = labels.get(names.GPU_REPLICAS, "")
    unshared = not replicas.isdecimal() or labels.get(names.GPU_COUNT) == str(row.capacity)
    return 1 if unshared else max(int(replicas), 1)


def _hardware(node: Node, words: NodeWords) -> list[tuple[int, Evidence]]:
    labels, place = node.metadata.labels, f"node/{node.name}"
    found = [
        (int(labels[key]), Evidence(object=place, field=f"metadata.labels[{key}]", value=labels[key]))
        for key in _COUNTS
        if labels.get(key, "").isdecimal()
    ]
    if lines := _PCI.findall(words.output(node.name, "lspci")):
        found.append(
            (len(lines), Evidence(file=f"{node.name}:lspci", value=str(len(lines)), note="NVIDIA controllers"))
        )
    return found
