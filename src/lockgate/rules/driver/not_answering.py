"""The driver does not answer.

`nvidia-smi` is not there, reaches no driver, or hangs: none is installed, its kernel module is not loaded or belongs to
another kernel, or a GPU keeps it from answering.

Why it matters: the validator tries for ever, and toolkit, plugin and all others wait for it.
How to tell: the text stands in the log of driver-validation, or is what `nvidia-smi` prints on the node.
Fix: load the module on the node (`sudo modprobe nvidia`); what that or the kernel's log says is the cause. Where the
operator should bring the driver, see why its driver pod does not; where the host should, install it there.
"""

import re
from collections.abc import Mapping
from typing import Final

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, kernel_of, read_logs
from lockgate.diagnosis.stage import is_ready
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# nvidia-smi 535.261; gpu-operator validator/driver.go; our own validator.
_SILENT = re.compile(r"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver")
_HANGS = re.compile(r"nvidia-smi .* has not answered within \d+ s")
_ABSENT = re.compile(r"no driver on this node: no nvidia-smi on the host|failed to locate driver libraries")
_MEANS: Final[Mapping[re.Pattern[str], str]] = {
    _SILENT: "nvidia-smi reaches no driver",
    _HANGS: "nvidia-smi hangs, as it does where a GPU does not answer the driver",
    _ABSENT: "no driver is installed, neither on the host nor by a driver pod",
}


@rule(codes=("H11", "H07"), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=AFTER_DRIVER)
def not_answering(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        _find,
        lambda on, told: f"{_MEANS[told.match.re]}; kernel {kernel_of(on)} runs there.",
        _remedies,
        softer=Severity.ERROR,
    )


def _find(on: NodeStack) -> Told | None:
    """While a driver pod of the node is on its way the text is to be expected."""
    driver = on.pod_of("driver")
    if driver is not None and not is_ready(driver):
        return None
    return on.said(*_MEANS) or (on.printed(("nvidia-smi", "nvidia-smi-q"), _SILENT) if on.is_closed else None)


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(
            f"On {on.name}, see whether the module is there and what the kernel says",
            "lsmod | grep nvidia; modinfo nvidia; sudo dmesg -T | grep -i nvrm",
            Risk.NONE,
        ),
        *read_logs(told),
    )
