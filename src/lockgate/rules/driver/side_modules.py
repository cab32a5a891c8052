"""Another kernel module holds the driver: GDRCopy, GPUDirect Storage or peer memory.

`gdrdrv`, `nvidia_fs` and `nvidia_peermem` stand on NVIDIA's module. While one of them is loaded the driver cannot be
unloaded, whatever pods are drained.

Why it matters: a driver that is to be exchanged stays stuck with `driver is in use`, and no process can be found.
How to tell: `lsmod` names the module behind nvidia.
Fix: unload that module on the node; it comes back with the driver.
"""

import re

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.seen import listed
from lockgate.diagnosis.stack_fault import STAGES, blame, with_more
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

_IN_USE = re.compile(r"driver is in use|nvidia driver module is already loaded with refcount")
# gpu-operator#2433.
_SIDE = ("gdrdrv", "nvidia_fs", "nvidia_peermem")


@rule(codes=("H09",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=("driver/in-use", *AFTER_DRIVER))
def side_modules(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        _find,
        lambda on, told: f"kernel module {listed(_holding(on))} holds the driver, so it cannot be unloaded.",
        _remedies,
        softer=Severity.ERROR,
    )


def _find(on: NodeStack) -> Told | None:
    told = on.said(_IN_USE, of=("driver",)) if _holding(on) else None
    return with_more(told, on.module("nvidia"))


def _holding(on: NodeStack) -> tuple[str, ...]:
    nvidia = on.modules.get("nvidia")
    return tuple(name for name in _SIDE if nvidia and name in nvidia.used_by)


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    unload = "; ".join(f"sudo rmmod {name}" for name in _holding(on))
    return (Remedy(f"On {on.name}, unload what stands on the driver", unload, Risk.HIGH),)
