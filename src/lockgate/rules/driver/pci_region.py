"""The firmware gave a GPU no usable address space.

A GPU needs large regions of the PCI address space (BARs). The system's firmware or hypervisor assigned none, or one
that the kernel cannot use.

Why it matters: the driver refuses the device. Nothing in Kubernetes can change that, and every operand of the node
waits for the driver.
How to tell: `This PCI I/O region assigned to your NVIDIA device is invalid` in the kernel's log, or the driver
container's, with BAR and address.
Fix: switch on `Above 4G decoding` in the firmware (for a virtual machine give it a larger 64-bit MMIO window), update
the firmware, or boot with `pci=realloc`.
"""

import re

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# kernel-open/nvidia/nv-pci.c (535.261), in two forms.
_TEXT = re.compile(r"This PCI I/O region assigned")


@rule(
    codes=("H14",),
    severity=Severity.BLOCKER,
    stages=STAGES,
    asks_gpu=None,
    mutes=("driver/adapter-failed", *AFTER_DRIVER),
)
def pci_region(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.kernel(_TEXT),
        lambda on, told: "a GPU has no valid region of PCI address space, so the driver refuses it.",
        _remedies,
        softer=Severity.ERROR,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(
            f"On {on.name}, see which regions the GPU has",
            "sudo lspci -vv -d 10de: | grep -E 'controller|Region'; sudo dmesg -T | grep -E 'NVRM|BAR'",
            Risk.NONE,
        ),
        Remedy("In its firmware, switch on Above 4G decoding; reboot", "", Risk.HIGH),
    )
