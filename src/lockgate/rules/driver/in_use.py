"""The old driver cannot be unloaded: something still uses it.

Before a driver is exchanged its kernel module must be unloaded, which the kernel refuses while any process or module
holds it. The driver manager (an init container) then gives up and is tried again.

Why it matters: the new driver never comes up, and the paused operands do not come back. Pods that compute now are not
touched.
How to tell: the driver manager's log says that the driver is in use; GPU pods, or programs on the host, hold it.
Fix: end what holds it: drain the GPU pods of the node, stop host programs (X, nvidia-persistenced, dcgm). Where a
driver is installed on the host, switch the operator's off (`driver.enabled: false`).
"""

import re

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.remedies import drain
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, holders, read_logs, with_more
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.facts import Missing, Pods
from lockgate.model.finding import Remedy, Risk, Severity

# k8s-driver-manager and the driver container (gpu-operator#2166, #901, #2509, #367, #180).
_TEXTS = (
    re.compile(r"Could not unload NVIDIA driver kernel modules, driver is in use"),
    re.compile(r"nvidia driver module is already loaded with refcount (?P<users>\d+)"),
)
_NO_DRAIN = re.compile(r"Auto drain of the node .* is disabled")


@rule(codes=("H08",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=AFTER_DRIVER)
def in_use(ailing: Ailing, pods: Pods | Missing) -> Outcome:
    return blame(
        ailing,
        _find,
        lambda on, told: f"the old driver cannot be unloaded; {holders(on, pods)}.",
        _remedies,
        softer=Severity.ERROR,
    )


def _find(on: NodeStack) -> Told | None:
    return with_more(on.said(*_TEXTS, of=("driver",)), on.said(_NO_DRAIN, of=("driver",)), on.module("nvidia"))


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(f"On {on.name}, see what holds the driver", "sudo lsof /dev/nvidia*; lsmod | grep nvidia", Risk.NONE),
        drain(on.name, f"Drain {on.name}: its GPU pods have to end"),
        *read_logs(told),
    )
