"""The nodes hand out their GPUs by claims, and the pod asks for a number of them.

NVIDIA's driver for dynamic resource allocation publishes the node's GPUs in ResourceSlices. Without a device plugin
beside it, and without a DeviceClass that stands for the resource's name, `nvidia.com/gpu` does not exist there.

Why it matters: the GPUs are there and free, and the scheduler says `Insufficient nvidia.com/gpu` as for a dead plugin.
How to tell: ResourceSlices of driver gpu.nvidia.com name the node, and its capacity has no GPU resource.
Fix: ask by a claim (`spec.resourceClaims`, class gpu.nvidia.com); or give the DeviceClass the name
(`extendedResourceName: nvidia.com/gpu`, Kubernetes 1.36 and later).
"""

from lockgate.diagnosis.followers import AFTER_PLUGIN
from lockgate.diagnosis.gate_row import Obstacle
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import MOST_NODES, asked, gate_rows, listed
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.claims import offered_on
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.model import names
from lockgate.model.facts import DeviceClasses, Missing, ResourceSlices
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod


@rule(
    codes=("C18",),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING,),
    mutes=(*AFTER_PLUGIN, "operands/plugin-not-installed", "operands/plugin-not-targeted"),
)
def asks_by_count(
    pod: Pod, gate_one: GateOne, resource_slices: ResourceSlices | Missing, device_classes: DeviceClasses | Missing
) -> Failed | None:
    offered = {
        row.node: count
        for row in gate_one.nearest_with(Obstacle.NO_RESOURCE)
        if (count := offered_on(resource_slices, row.node))
    }
    if not offered or _stands_for(gate_one.resource, device_classes):
        return None
    rows = [row for row in gate_one.rows if row.node in offered]
    return Failed(
        about="nodes" if len(offered) > 1 else f"node/{rows[0].node}",
        summary=f"It asks for {gate_one.resource}; the GPUs of {listed(offered)} are for resource claims only.",
        reach=len(offered),
        nodes=tuple(offered),
        evidence=(
            asked(pod, gate_one.resource, gate_one.asked),
            *(
                Evidence(object=f"node/{node}", field=f"devices of {names.CLAIMS_DRIVER}", value=str(count))
                for node, count in list(offered.items())[:MOST_NODES]
            ),
            *gate_rows(gate_one, rows),
        ),
        remedy=(
            Remedy(
                "Ask by a claim: a ResourceClaimTemplate of class gpu.nvidia.com, named in spec.resourceClaims and in "
                "the container's resources.claims",
                "kubectl get deviceclasses,resourceslices",
                Risk.NONE,
            ),
        ),
    )


def _stands_for(resource: str, classes: DeviceClasses | Missing) -> bool:
    """Whether a class serves pods that ask for the resource by its name."""
    known = () if isinstance(classes, Missing) else classes
    return any(c.spec.extended_resource_name == resource for c in known)
