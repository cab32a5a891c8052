"""Links between GPUs fail (XID 74, 136, 137, 144 to 150, 155).

NVLink reports an error between GPUs, or between a GPU and an NVSwitch.

Why it matters: work on several GPUs hangs, slows down or ends (NCCL errors), while work on a single GPU goes on.
How to tell: `nvidia-smi nvlink -s` and `-e` show links that are down or count errors; the switch's own lines (`SXid`)
and the fabric manager's log name the other end.
Fix: restart the jobs; when it comes back, drain the node and reset all GPUs of the fabric together, then have the
baseboard inspected. NVIDIA has a workflow of its own for these codes.
"""

from lockgate.diagnosis.followers import TAKEN_AWAY
from lockgate.diagnosis.remedies import drain
from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.views.struck import STAGES, Hit, Struck
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.xid.codes import Family


@rule(
    codes=("K08",),
    severity=Severity.ERROR,
    stages=STAGES,
    mutes=(
        *TAKEN_AWAY,
        "xid/recovery-asked",
    ),
)
def link_error(struck: Struck) -> Failed | Skipped | None:
    return struck.judged("K08", Family.LINK, _remedy)


def _remedy(hit: Hit) -> tuple[Remedy, ...]:
    return (
        Remedy(f"On {hit.node}, see which links are down", "nvidia-smi nvlink -s; nvidia-smi nvlink -e", Risk.NONE),
        drain(hit.node, f"Drain {hit.node}, then reset all GPUs together"),
    )
