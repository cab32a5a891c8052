"""Memory of the GPU is damaged, and data may be lost (XID 48, 95, 140, 171, 172).

An error of memory that ECC could not mend, and that may have struck any program on the GPU.

Why it matters: results may be wrong, and the GPU must be reset before it is used again.
How to tell: `nvidia-smi -q -d ECC,ROW_REMAPPER` counts the errors, and says whether a row waits to be replaced.
Fix: drain the node and reset the GPU. When it comes back again and again, have the GPU replaced.
"""

from lockgate.diagnosis.followers import TAKEN_AWAY
from lockgate.diagnosis.remedies import drain_and_reset
from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.views.struck import STAGES, Hit, Struck
from lockgate.model.finding import Remedy, Severity
from lockgate.xid.codes import Family


@rule(
    codes=("K03",),
    severity=Severity.ERROR,
    stages=STAGES,
    mutes=(
        *TAKEN_AWAY,
        "xid/recovery-asked",
    ),
)
def memory_error(struck: Struck) -> Failed | Skipped | None:
    return struck.judged("K03", Family.MEMORY, _remedy)


def _remedy(hit: Hit) -> tuple[Remedy, ...]:
    return drain_and_reset(hit.node, hit.smi)
