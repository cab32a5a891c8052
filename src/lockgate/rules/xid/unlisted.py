"""The driver reports an XID that Lockgate has no page for.

The commoner codes are explained each on a page of its own; this one is not among them. The line of the driver is
quoted as it is.

Why it matters: a code that is not known must not be taken for harmless, nor for a broken GPU.
How to tell: NVIDIA's list of XIDs (docs.nvidia.com/deploy/xid-errors) has every code with its action.
Fix: look the code up; reset the GPU if the program fails on it again.
"""

from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.views.struck import STAGES, Hit, Struck
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.xid.codes import Family


@rule(codes=(), severity=Severity.WARNING, stages=STAGES, gpu=None)
def unlisted(struck: Struck) -> Failed | Skipped | None:
    return struck.judged("", Family.OTHER, _remedy, on_node=Severity.WARNING)


def _remedy(hit: Hit) -> tuple[Remedy, ...]:
    link = f"https://docs.nvidia.com/deploy/xid-errors (code {hit.xid.code.number})"
    return (Remedy(f"Look it up in NVIDIA's list: {link}", "", Risk.NONE),)
