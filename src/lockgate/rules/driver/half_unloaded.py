"""The driver's module hangs halfway out of the kernel.

It was being unloaded and did not get to the end: it is neither loaded nor gone. Nothing but a reboot changes that.

Why it matters: no driver can be loaded on this node, old or new, and every operand waits for one.
How to tell: `/proc/modules` says `Unloading`, or the kernel's log, or the driver container's, marks the module with a
minus, `nvidia_uvm(OE-)`.
Fix: reboot the node. Another time drain GPU pods before the operator or driver is taken away.
"""

import re

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.remedies import drain
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Severity

# NVIDIA/aicr#1553; the kernel marks a module that goes with `-` (kernel/module, print_modules).
_GOING = re.compile(r"\b(?P<module>nvidia\w*)\([A-Z]*-\)")


@rule(
    codes=("H10",),
    severity=Severity.BLOCKER,
    stages=STAGES,
    asks_gpu=None,
    mutes=("driver/in-use", "driver/side-modules", *AFTER_DRIVER),
)
def half_unloaded(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        _find,
        lambda on, told: "NVIDIA's kernel module hangs between loaded and gone; only a reboot ends that.",
        lambda on, told: (drain(on.name),),
        softer=Severity.ERROR,
    )


def _find(on: NodeStack) -> Told | None:
    going = next((m for m in on.modules.values() if m.name.startswith("nvidia") and m.state == "Unloading"), None)
    if going is not None and on.is_closed:
        return on.module(going.name)
    return None if on.modules else on.kernel(_GOING)
