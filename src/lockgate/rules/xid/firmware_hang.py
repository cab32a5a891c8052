"""The GPU's firmware hangs (XID 119, 120, 143, 158).

The driver waits for the GPU's own processor (GSP) and gets no answer, or the GPU cannot be initialised.

Why it matters: `nvidia-smi` and every other client of the driver block, also for the GPUs that are well; so new
containers with GPUs wait as well.
How to tell: processes in state D that hold `/dev/nvidia*`; the kernel's log has `Timeout after 6s of waiting for RPC`.
Fix: drain the node and reset the GPU; often only a reboot helps. Update the driver when it comes back.
"""

from lockgate.diagnosis.followers import AFTER_DRIVER, TAKEN_AWAY
from lockgate.diagnosis.remedies import drain_and_reset
from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.views.struck import STAGES, Hit, Struck
from lockgate.model.finding import Remedy, Severity
from lockgate.xid.codes import Family


@rule(
    codes=("K06",),
    severity=Severity.ERROR,
    stages=STAGES,
    mutes=(
        *AFTER_DRIVER,
        *TAKEN_AWAY,
        "gpu-use/driver-hangs",
        "injection/driver-timeout",
        "xid/recovery-asked",
    ),
)
def firmware_hang(struck: Struck) -> Failed | Skipped | None:
    return struck.judged("K06", Family.FIRMWARE, _remedy)


def _remedy(hit: Hit) -> tuple[Remedy, ...]:
    return drain_and_reset(hit.node, hit.smi)
