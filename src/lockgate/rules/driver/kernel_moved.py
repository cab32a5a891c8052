"""The node boots a kernel for which no driver was built.

A driver on the host is a module for one kernel. After an update of the kernel (often an unattended one) and a reboot
the module is not there.

Why it matters: the driver does not load; every operand of the node waits or fails.
How to tell: `modprobe` finds no module in the directory of the running kernel.
Fix: build the driver for this kernel (`dkms autoinstall`) or boot the one before; hold kernel packages on GPU nodes.
"""

import re

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# kmod's modprobe (gpu-operator#1923).
_TEXT = re.compile(r"Module (?P<module>nvidia[\w-]*) not found in directory /lib/modules/(?P<kernel>[^\s'\"]+)")


@rule(codes=("H11",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=AFTER_DRIVER)
def kernel_moved(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.said(_TEXT) or on.kernel(_TEXT),
        lambda on, told: f"kernel {told.match['kernel']} runs, and there is no module {told.match['module']} for it.",
        _remedies,
        softer=Severity.ERROR,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    kernel = told.match["kernel"]
    return (
        Remedy(
            f"On {on.name}, see for which kernels a driver was built",
            "dkms status; find /lib/modules -name 'nvidia.ko*'",
            Risk.NONE,
        ),
        Remedy(f"On {on.name}, build it for this kernel", f"sudo dkms autoinstall -k {kernel}", Risk.LOW),
        *read_logs(told),
    )
