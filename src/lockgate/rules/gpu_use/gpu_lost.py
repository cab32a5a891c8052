"""The pod's GPU was lost while it ran.

The driver says that a GPU of the node does not answer any more; usually it fell off the bus (XID 79).

Why it matters: the program cannot go on, and the device plugin and `nvidia-smi` may fail for the other GPUs too.
How to tell: `nvidia-smi` says `GPU is lost. Reboot the system to recover this GPU`; the kernel's log has an XID.
Fix: drain the node and restart it; when it comes back, look at power, riser and seating.
"""

import re

from lockgate.diagnosis.remedies import drain
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.words import Words
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod

# nvidia-smi of 535, 550 and 580; older ones write GPU in capitals.
_TEXT = re.compile(
    r"Unable to determine the device handle for [Gg][Pp][Uu]\s?(?P<bus>[\dA-Fa-f]{4,8}:[\dA-Fa-f:.]+)?.*"
    r"|GPU is lost|NVMLError_GpuIsLost"
)


@rule(
    codes=("J14",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.RUNNING, Stage.FAILED),
    asks_gpu=None,
    mutes=("pod/no-gpu-asked",),
)
def gpu_lost(pod: Pod, words: Words) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    node, bus = pod.spec.node_name, said.match["bus"]
    return Failed(
        about=f"node/{node}",
        summary=f"{_gpu(bus)} of {node} is lost: the driver cannot reach it any more.",
        evidence=(said.evidence,),
        remedy=(
            Remedy(f"On {node}, see what the kernel says", "dmesg -T | grep -iE 'NVRM|Xid' | tail", Risk.NONE),
            drain(node, f"Drain {node} and restart it"),
        ),
    )


def _gpu(bus: str | None) -> str:
    return f"GPU {bus.rstrip(':.')}" if bus else "A GPU"
