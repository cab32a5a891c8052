"""The wrong kind of kernel module: this GPU needs the other of open and proprietary.

NVIDIA's kernel module comes in two kinds. GPUs before Turing work only with the proprietary one, Blackwell and later
only with the open one.

Why it matters: the module loads and drives no device: `nvidia-smi` says `No devices were found`.
How to tell: the kernel's log says that the GPU is not supported by the open module, or requires it.
Fix: let the driver choose (`driver.kernelModuleType: auto`), or name the right kind; nodes with GPUs of both kinds need
a NVIDIADriver object each.
"""

import re

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# nvidia.ko: the first in the open one (535.261), the second in the proprietary one (580.178).
_NEEDS_PROPRIETARY = re.compile(r"installed in this system is not supported by open")
_NEEDS_OPEN = re.compile(r"requires use of the NVIDIA open kernel modules")


@rule(codes=("H06",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=AFTER_DRIVER)
def module_flavour(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.kernel(_NEEDS_OPEN, _NEEDS_PROPRIETARY) or on.said(_NEEDS_OPEN, _NEEDS_PROPRIETARY),
        lambda on, told: f"the GPU works only with the {_wanted(told)} kernel module, the other one is loaded.",
        _remedies,
        softer=Severity.ERROR,
    )


def _wanted(told: Told) -> str:
    return "open" if told.match.re is _NEEDS_OPEN else "proprietary"


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    patch = f'{{"spec":{{"driver":{{"kernelModuleType":"{_wanted(told)}"}}}}}}'
    return (
        Remedy(f"On {on.name}, see which kind is loaded", "cat /proc/driver/nvidia/version", Risk.NONE),
        Remedy(
            f"Where all GPU nodes need it, use the {_wanted(told)} module; else leave kernelModuleType at auto",
            f"kubectl patch clusterpolicy cluster-policy --type merge -p '{patch}'",
            Risk.HIGH,
        ),
    )
