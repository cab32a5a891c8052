"""A bad row of the GPU's memory is to be replaced (XID 63, 64, 92).

The GPU keeps spare rows for memory that went bad. 63 says that one waits for the next reset, 64 that it could not be
replaced, 92 that errors are corrected at a high rate.

Why it matters: 63 alone needs nothing at once; with 64 the GPU should be replaced. NVIDIA's device plugin takes the GPU
away for each of them.
How to tell: `nvidia-smi -q -d ROW_REMAPPER` shows `Pending: Yes` or `Remapping Failure Occurred: Yes`.
Fix: reset the GPU when it is idle; after a failed replacement have the GPU inspected.
"""

from lockgate.diagnosis.followers import TAKEN_AWAY
from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.views.struck import STAGES, Hit, Struck
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.xid.codes import Family


@rule(
    codes=("K04",),
    severity=Severity.ERROR,
    stages=STAGES,
    mutes=(
        *TAKEN_AWAY,
        "xid/recovery-asked",
    ),
)
def row_remap(struck: Struck) -> Failed | Skipped | None:
    return struck.judged("K04", Family.ROW_REMAP, _remedy, on_node=Severity.WARNING)


def _remedy(hit: Hit) -> tuple[Remedy, ...]:
    return (
        Remedy(f"On {hit.node}, see what is pending", "nvidia-smi -q -d ROW_REMAPPER", Risk.NONE),
        Remedy("Reset the GPU when nothing uses it", f"nvidia-smi --gpu-reset -i {hit.smi}", Risk.HIGH),
    )
