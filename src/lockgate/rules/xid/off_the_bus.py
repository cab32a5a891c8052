"""The GPU is gone from the bus (XID 79, 54, 62, 167).

The driver cannot reach the GPU any more: it fell off the bus (79), lost its power (54), its own controller halted (62),
or it did not answer on the bus in time (167).

Why it matters: what ran on it is lost, and one lost GPU can hold up every new container of the node, since the driver
waits for it.
How to tell: `nvidia-smi` says `GPU is lost` or shows one GPU less; `lspci -d 10de:` shows `rev ff`.
Fix: drain the node and restart the machine, with its power off for a while. When it comes back, look at the power
supply, the riser and the seating, and have the GPU inspected.
"""

from lockgate.diagnosis.followers import AFTER_DRIVER, TAKEN_AWAY
from lockgate.diagnosis.remedies import drain
from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.views.struck import STAGES, Hit, Struck
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.xid.codes import Family


@rule(
    codes=("K05",),
    severity=Severity.ERROR,
    stages=STAGES,
    mutes=(
        *AFTER_DRIVER,
        *TAKEN_AWAY,
        "gpu-use/gpu-lost",
        "gpu-use/driver-hangs",
        "injection/driver-timeout",
        "kubelet/refused",
        "xid/recovery-asked",
    ),
)
def off_the_bus(struck: Struck) -> Failed | Skipped | None:
    return struck.judged("K05", Family.BUS, _remedy) or struck.open_question()


def _remedy(hit: Hit) -> tuple[Remedy, ...]:
    return (
        drain(hit.node, f"Drain {hit.node}"),
        Remedy(
            "Restart the machine (RESTART_BM), and see whether the GPU is back",
            "lspci -d 10de:; nvidia-smi -L",
            Risk.HIGH,
        ),
    )
