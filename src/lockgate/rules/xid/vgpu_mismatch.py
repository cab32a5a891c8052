"""A virtual GPU does not fit its host (XID 78).

The driver in the virtual machine and the vGPU host driver are of branches that do not work together, or the licence
does not allow the profile.

Why it matters: the virtual GPU does not start, whatever Kubernetes does.
How to tell: compare the label `nvidia.com/vgpu.host-driver-version` with the driver of the guest.
Fix: bring both drivers to one vGPU release; see the licence with `nvidia-smi -q | grep -i license`.
"""

from lockgate.diagnosis.followers import TAKEN_AWAY
from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.views.struck import STAGES, Hit, Struck
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.xid.codes import Family


@rule(codes=("K10",), severity=Severity.ERROR, stages=STAGES, mutes=TAKEN_AWAY)
def vgpu_mismatch(struck: Struck) -> Failed | Skipped | None:
    return struck.judged("K10", Family.VGPU, _remedy)


def _remedy(hit: Hit) -> tuple[Remedy, ...]:
    return (
        Remedy(
            f"On {hit.node}, see the guest's driver and its licence",
            "nvidia-smi -q | grep -iE 'driver version|license'",
            Risk.NONE,
        ),
        Remedy(
            "Compare it with the driver of the host, which feature discovery labels",
            f"kubectl get node {hit.node} -L nvidia.com/vgpu.host-driver-version",
            Risk.NONE,
        ),
    )
