"""The driver's kernel module does not compile: the compiler is not the kernel's.

A kernel module has to be built with the compiler, or one as new, that built the kernel. The driver image brings its
own, which does not know the options that this kernel was built with.

Why it matters: the driver never loads, and every other operand of the node waits for it.
How to tell: gcc complains about an unrecognized option, or the installer's compiler check bails out.
Fix: use a driver image for the node's distribution release (its compiler fits), a precompiled driver, or the kernel
that the image was made for; newer point releases of the driver container bring newer compilers.
"""

import re

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, image_of, kernel_of, read_logs
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# gpu-operator#564. The mere warning that the compiler differs also stands in logs of builds that succeed.
_TEXTS = (
    re.compile(r"unrecognized command[ -]line option"),
    re.compile(r"Failed CC version check\. Bailing out!"),
)


@rule(codes=("H03",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=AFTER_DRIVER)
def compiler(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.said(*_TEXTS, of=("driver",)),
        lambda on, told: f"the compiler of {image_of(told, 'driver')} cannot build for kernel {kernel_of(on)}.",
        _remedies,
        softer=Severity.ERROR,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(
            "Use a precompiled driver, or a driver image of the node's own distribution release",
            "kubectl edit clusterpolicy",
            Risk.HIGH,
        ),
        *read_logs(told),
    )
