"""The driver says what it needs to recover (XID 154).

After another error the driver writes which action brings the GPU back: none, a reset, a reboot, draining.

Why it matters: it is the driver's own word, and more exact than any table.
How to tell: the line ends with `changed from ... to ... (GPU Reset Required)` or another action.
Fix: do what it names; look for the XID just before it, which is the cause.
"""

from lockgate.diagnosis.followers import TAKEN_AWAY
from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.views.struck import STAGES, Hit, Struck
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.xid.codes import Family


@rule(codes=("K09",), severity=Severity.ERROR, stages=STAGES, mutes=TAKEN_AWAY)
def recovery_asked(struck: Struck) -> Failed | Skipped | None:
    return struck.judged("K09", Family.RECOVERY, _remedy, on_node=Severity.WARNING)


def _remedy(hit: Hit) -> tuple[Remedy, ...]:
    return (Remedy(f"Do what the driver asks for: {hit.xid.text or 'see the line'}", "", Risk.HIGH),)
