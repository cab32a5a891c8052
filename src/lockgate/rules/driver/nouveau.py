"""The nouveau driver holds the GPUs.

Linux brings a driver of its own for NVIDIA devices. Once it is loaded it owns them, and NVIDIA's module finds none.

Why it matters: NVIDIA's driver does not load; every other operand of the node waits for it, and no error names nouveau.
How to tell: `lsmod` lists nouveau; the kernel's log, or the driver container's, says that NVIDIA's probe routine was
not called.
Fix: keep nouveau from loading (blacklist it, rebuild the initramfs) and reboot the node.
"""

import re

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.remedies import drain
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# kernel-open/nvidia/nv.c. It names nouveau whoever holds the devices, so the list of modules decides where it is known.
_PROBE = re.compile(r"NVRM: nouveau, rivafb, nvidiafb or rivatv|NVRM: The NVIDIA probe routine was not called")


@rule(codes=("H04",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=AFTER_DRIVER)
def nouveau(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        _find,
        lambda on, told: "the kernel's own driver nouveau holds the GPUs, so NVIDIA's driver finds none.",
        _remedies,
        softer=Severity.ERROR,
    )


def _find(on: NodeStack) -> Told | None:
    """Where NVIDIA's module is loaded beside it, nouveau may hold another card, for a display."""
    probe, loaded = on.kernel(_PROBE), on.module("nouveau")
    if not on.modules:
        return probe
    alone = on.is_closed and "nvidia" not in on.modules
    return loaded if alone or probe else None


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    blacklist = "printf 'blacklist nouveau\\noptions nouveau modeset=0\\n' | sudo tee /etc/modprobe.d/nouveau.conf"
    return (
        Remedy(f"On {on.name}, see which driver holds the devices", "lspci -nnk -d 10de:", Risk.NONE),
        Remedy(f"On {on.name}, keep nouveau from loading", f"{blacklist}; sudo update-initramfs -u", Risk.LOW),
        drain(on.name, f"Then drain {on.name} and reboot it"),
    )
