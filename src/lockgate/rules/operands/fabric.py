"""CUDA does not start: the NVLink fabric is not up.

On machines with NVSwitch the GPUs form one fabric that nvidia-fabricmanager sets up. Until it has, `nvidia-smi` works
and CUDA answers 802, `system not yet initialized`.

Why it matters: no CUDA program runs on this node, and the validator's CUDA step holds the operands up.
How to tell: `nvidia-smi -q` shows `Fabric / State: In Progress`; the fabric manager's log says what keeps it from
finishing.
Fix: install nvidia-fabricmanager in exactly the driver's version and start it; with a driver on the host nobody else
does that. A GPU or switch that failed keeps the fabric down as well.
"""

import re

from lockgate.diagnosis.followers import AFTER_PLUGIN
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs, with_more
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# CUDA's words for 802 (gpu-operator#1043, #286, #545), which our validator quotes when it names the fabric itself.
_TEXT = re.compile(r"system not yet initialized")
_STATE = re.compile(r"(?m)^\s*State\s+:\s*(?:In Progress|Not Started)")  # of nvidia-smi -q, only the fabric has these
# nv-fabricmanager 595: what it minds before it gives up.
_MANAGER = re.compile(
    r"detected number of NVSwitches don't match with any supported system topology"
    r"|fabric manager version is incompatible with NVSwitch driver|don't match with driver version \S+"
)


@rule(
    codes=("I04",),
    severity=Severity.BLOCKER,
    stages=STAGES,
    asks_gpu=None,
    mutes=("operands/cuda-not-injected", "gpu-use/fabric-not-ready", *AFTER_PLUGIN),
)
def fabric(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        _find,
        lambda on, told: "the driver answers and CUDA does not start, since the NVLink fabric is not up (error 802).",
        _remedies,
    )


def _find(on: NodeStack) -> Told | None:
    state = on.printed(("nvidia-smi-q",), _STATE) if on.is_closed else None
    manager = on.printed(("fabricmanager", "fabricmanager.log"), _MANAGER) if on.is_closed else None
    told = on.said(_TEXT)
    return with_more(told, state, manager) or with_more(state, manager) or manager


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(
            f"On {on.name}, see the fabric and its manager",
            "nvidia-smi -q | grep -A3 Fabric; systemctl status nvidia-fabricmanager; tail /var/log/fabricmanager.log",
            Risk.NONE,
        ),
        Remedy(
            f"On {on.name}, start it; its version has to be the driver's",
            "sudo systemctl enable --now nvidia-fabricmanager",
            Risk.MEDIUM,
        ),
        *read_logs(told),
    )
