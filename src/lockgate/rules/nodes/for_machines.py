"""The node's GPUs are given to virtual machines, not to containers.

The label `nvidia.com/gpu.workload.config` of the node says `vm-passthrough` or `vm-vgpu`. The operator then binds the
GPUs to vfio, or makes vGPUs, and runs no driver, toolkit or device plugin for containers there.

Why it matters: the node has GPUs, even labels that say so, and never offers `nvidia.com/gpu`.
How to tell: the node's label says so; `lspci -k` shows `Kernel driver in use: vfio-pci`.
Fix: use another node, or label this one `nvidia.com/gpu.workload.config=container` when no machine needs its GPUs.
"""

from lockgate.diagnosis.followers import AFTER_PLUGIN
from lockgate.diagnosis.gate_row import GateRow
from lockgate.diagnosis.rule import Failed, on_each, rule
from lockgate.diagnosis.seen import gate_row
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.model import names
from lockgate.model.facts import Nodes
from lockgate.model.finding import Evidence, Remedy, Risk, Severity


@rule(codes=("C17",), severity=Severity.BLOCKER, stages=(Stage.SCHEDULING,), mutes=AFTER_PLUGIN)
def for_machines(gate_one: GateOne, nodes: Nodes) -> Failed | None:
    rows = [row for row in gate_one.nearest if row.for_machines]
    if not rows:
        return None
    labels = {n.name: n.metadata.labels.get(names.WORKLOAD_CONFIG, "") for n in nodes}
    return on_each([_failed(gate_one, row, labels[row.node]) for row in rows])


def _failed(gate: GateOne, row: GateRow, config: str) -> Failed:
    place = f"node/{row.node}"
    return Failed(
        about=place,
        summary=f"{row.node}: {names.WORKLOAD_CONFIG}={config}, so no {gate.resource} is offered.",
        nodes=(row.node,),
        evidence=(
            Evidence(object=place, field=f"metadata.labels[{names.WORKLOAD_CONFIG}]", value=config),
            gate_row(gate, row),
        ),
        remedy=(
            Remedy(
                f"If no virtual machine needs the GPUs of {row.node}, give them to containers",
                f"kubectl label node {row.node} --overwrite {names.WORKLOAD_CONFIG}=container",
                Risk.HIGH,
            ),
        ),
    )
