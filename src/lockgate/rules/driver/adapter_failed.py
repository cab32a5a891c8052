"""A GPU does not start: the driver cannot initialize it.

The kernel module is loaded and found the device, and the device's firmware or hardware did not come up.

Why it matters: the GPU is lost until it is reset; a node with one GPU has none, and clients of the driver may hang.
How to tell: `RmInitAdapter failed` in the kernel's log, or the driver container's, names the PCI address; GSP and GFW
are the GPU's own firmware.
Fix: power the node off and on (a reboot is not enough). If the error returns, try another driver release, since
driver and firmware may not go together. If that changes nothing the GPU is broken or badly seated: have it replaced.
"""

import re

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.remedies import drain
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# nvidia.ko (open, 535.261); open-gpu-kernel-modules#789, #246, #326.
_TEXTS = (
    re.compile(r"NVRM: GPU (?P<gpu>[0-9a-fA-F:.]+): RmInitAdapter failed!"),
    re.compile(r"(?:GPU (?P<gpu>[0-9a-fA-F:.]+).*)?Cannot initialize GSP firmware RM"),
    re.compile(r"(?:GPU (?P<gpu>[0-9a-fA-F:.]+).*)?failed to wait for GFW boot complete"),
)


@rule(
    codes=("H12",),
    severity=Severity.BLOCKER,
    stages=STAGES,
    asks_gpu=None,
    mutes=("injection/driver-timeout", *AFTER_DRIVER),
)
def adapter_failed(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.kernel(*_TEXTS),
        lambda on, told: f"the driver cannot start GPU {told.match['gpu'] or '(see the line)'}.",
        _remedies,
        softer=Severity.ERROR,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(f"On {on.name}, see what else is said of it", "sudo dmesg -T | grep -E 'NVRM|Xid'", Risk.NONE),
        drain(on.name, "Drain the node, then power it off and on"),
    )
