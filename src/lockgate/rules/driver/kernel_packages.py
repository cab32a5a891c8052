"""The driver image finds no packages for the running kernel.

It builds the kernel module on the node, and needs the headers of exactly the kernel that runs there; the package
repositories that it knows do not have them.

Why it matters: the driver never loads, and every other operand of the node waits for it.
How to tell: the driver container ends with the text that is shown; the kernel is newer or older than the repository.
Fix: boot a kernel whose headers are in the repository, add a repository that has them (`driver.repoConfig`), or use a
precompiled driver for this kernel (`driver.usePrecompiled`).
"""

import re

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, kernel_of, read_logs
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# NVIDIA's driver container (gpu-operator#85, #526, #302).
_TEXTS = (
    re.compile(r"Could not resolve Linux kernel version"),
    re.compile(r"Could not locate Linux kernel version string"),
    re.compile(r"extract-vmlinux: Cannot find vmlinux"),
)


@rule(codes=("H01",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=AFTER_DRIVER)
def kernel_packages(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.said(*_TEXTS, of=("driver",)),
        lambda on, told: f"the driver container finds no headers for kernel {kernel_of(on)}.",
        _remedies,
        softer=Severity.ERROR,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(
            "Use a precompiled driver for this kernel, or boot a kernel whose headers the repository has",
            "kubectl get nodes -o custom-columns=NODE:.metadata.name,KERNEL:.status.nodeInfo.kernelVersion",
            Risk.NONE,
        ),
        *read_logs(told),
    )
