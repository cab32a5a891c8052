"""The node offers fewer GPUs than it has.

A GPU that fell off the bus, or that the driver could not start, before the device plugin started is in no count of
Kubernetes: capacity and allocatable agree, and both are one too small.

Why it matters: nothing is unhealthy for the plugin, so no tool complains, and a node of 8 GPUs works as one of 7.
How to tell: a count of the hardware (`lspci`, the instance type's label, feature discovery's) is larger than the
capacity. A pod that asks for as many as the node has then waits for ever: nobody holds what it lacks.
Fix: look at the kernel's log for `Xid 79`, `RmInitAdapter failed` or `fallen off the bus`; reset or replace the GPU,
then restart the device plugin of the node.
"""

import re
from typing import Final

from lockgate.diagnosis.gate_row import SHORT_OF_DEVICES, GateRow
from lockgate.diagnosis.rule import Failed, Passed, on_each, rule
from lockgate.diagnosis.seen import gate_row, listed, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.hardware import Counted, Hardware
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.kit.counted import counted
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node

_LOST: Final = re.compile(r"RmInitAdapter failed|^(?!.*Xid).*fallen off the bus")


@rule(
    codes=("C08",),
    severity=Severity.WARNING,
    stages=(Stage.SCHEDULING, Stage.NODE),
    mutes=("autoscaling/no-node-added",),
)
def fewer_than_hardware(
    gate_one: GateOne, hardware: Hardware, node: Node | Missing, node_words: NodeWords | Missing
) -> Failed | Passed | None:
    if gate_one.resource != names.GPU:
        return None
    near = gate_one.rows if isinstance(node, Node) else gate_one.nearest_with(*SHORT_OF_DEVICES)
    judged = [(row, count) for row in near if (count := hardware.of(row.node)) is not None]
    found = [(row, count) for row, count in judged if count.lacks]
    if not found:
        return Passed(f"every GPU of {listed(row.node for row, _ in judged)} is advertised") if judged else None
    told = ((row, count, hardware.explains(row)) for row, count in found)
    return on_each([_failed(gate_one, row, count, blocks, node_words) for row, count, blocks in told])


def _failed(gate: GateOne, row: GateRow, count: Counted, blocks: bool, words: NodeWords | Missing) -> Failed:
    return Failed(
        about=f"node/{row.node}",
        severity=Severity.BLOCKER if blocks else None,
        summary=f"{row.node} has {counted(count.has, 'GPU')} and offers {count.offers}.",
        nodes=(row.node,),
        evidence=(count.evidence, gate_row(gate, row), *some(_said(row.node, words))),
        remedy=(
            Remedy(
                f"On {row.node}, compare what the bus, the driver and the kernel say",
                "lspci -d 10de: ; nvidia-smi -L; dmesg | grep -iE 'NVRM|Xid' | tail",
                Risk.NONE,
            ),
        ),
    )


def _said(node: str, words: NodeWords | Missing) -> Evidence | None:
    """The kernel's newest line about a GPU that it lost, or could not start."""
    line = None if isinstance(words, Missing) else words.find_in_kernel(node, _LOST)
    return line.evidence if line else None
