"""The driver's kernel module does not load.

NVIDIA's installer has built or fetched the module, and the kernel does not take it. The text of the installer is the
same for many reasons; the kernel's log has the one that counts.

Why it matters: the driver never comes up, and every other operand of the node waits for it.
How to tell: `Unable to load the kernel module 'nvidia.ko'` in the driver container's log.
Fix: read what the kernel says on the node: another driver may hold the GPUs (vfio-pci, nouveau), the GPU may be too old
or too new for this driver release, or the hardware may be broken.
"""

import re

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs, with_more
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# NVIDIA's installer and modprobe (gpu-operator#1390, #266).
_TEXTS = (
    re.compile(r"Unable to load the kernel module '?nvidia\.ko"),
    re.compile(r"could not insert '?nvidia'?: No such device"),
)
# What the module itself says when it drives no device (kernel-open/nvidia/nv.c, 535.261).
_KERNEL = re.compile(
    r"NVRM: (?:No NVIDIA (?:GPU found|devices probed)|None of the NVIDIA devices were initialized"
    r"|The NVIDIA probe routine failed|installed in this system is not supported by the)"
)


@rule(codes=("H07",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=AFTER_DRIVER)
def module_not_loaded(ailing: Ailing) -> Outcome:
    return blame(ailing, _find, _says, _remedies, softer=Severity.ERROR)


def _find(on: NodeStack) -> Told | None:
    told, kernel = on.said(*_TEXTS, of=("driver",)), on.kernel(_KERNEL)
    return with_more(told, kernel, on.module("vfio_pci") if on.is_closed else None) or kernel


def _says(on: NodeStack, told: Told) -> str:
    if "vfio_pci" in on.modules:
        return "NVIDIA's module finds no device of its own; vfio-pci is loaded and may hold the GPUs for machines."
    return "NVIDIA's kernel module does not load, or drives no device; the kernel's log on the node says why."


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(f"On {on.name}, read what the kernel says", "sudo dmesg -T | grep -iE 'NVRM|nvidia|vfio'", Risk.NONE),
        Remedy(f"On {on.name}, see which driver holds the devices", "lspci -nnk -d 10de:", Risk.NONE),
        *read_logs(told),
    )
