"""The node's GPUs are given to virtual machines, not to containers.

The label `nvidia.com/gpu.workload.config` of the node says `vm-passthrough` or `vm-vgpu`. The operator then binds the
GPUs to vfio, or makes vGPUs, and runs no driver, toolkit or device plugin for containers there.

Why it matters: the node has GPUs, even labels that say so, and never offers `nvidia.com/gpu`.
How to tell: the node's label says so; `lspci -k` shows `Kernel driver in use: vfio-pci`.
Fix: use another node, or label this one `nvidia.com/gpu.workload.config=container` when no machine needs its GPUs.
"""

from lockgate.diagnosis.followers import AFTER_PLUGIN
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import gate_rows, listed
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
    here = {row.node for row in rows}
    labels = {n.name: n.metadata.labels.get(names.WORKLOAD_CONFIG, "") for n in nodes if n.name in here}
    first = rows[0].node
    return Failed(
        about=f"node/{first}" if len(rows) == 1 else "nodes",
        summary=f"{listed(here)}: {names.WORKLOAD_CONFIG}={labels[first]}, so no {gate_one.resource} is offered.",
        reach=len(rows),
        nodes=tuple(row.node for row in rows),
        evidence=(
            *(
                Evidence(object=f"node/{name}", field=f"metadata.labels[{names.WORKLOAD_CONFIG}]", value=labels[name])
                for name in sorted(here)
            ),
            *gate_rows(gate_one, rows),
        ),
        remedy=(
            Remedy(
                "If no virtual machine needs them, give the GPUs to containers",
                f"kubectl label node {first} --overwrite {names.WORKLOAD_CONFIG}=container",
                Risk.HIGH,
            ),
        ),
    )
