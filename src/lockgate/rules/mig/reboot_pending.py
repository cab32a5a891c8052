"""The MIG mode waits for a reboot.

Some GPUs cannot be reset where they are (passed through to a virtual machine, or without a reset of their own): the new
mode is set and comes into force with the next boot.

Why it matters: the node keeps its old layout; `nvidia.com/mig.config.state` says failed.
How to tell: the MIG manager's log says that the mode change is pending; `nvidia-smi` shows a pending mode that differs.
Fix: drain and reboot the node, or let the MIG manager do that: `migManager.env` with WITH_REBOOT=true.
"""

import re

from lockgate.diagnosis.followers import AFTER_MIG
from lockgate.diagnosis.remedies import drain
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# mig-parted (gpu-operator#1606, #668); nvidia-smi 535.261.
_TEXTS = (
    re.compile(r"Mode change pending: true"),
    re.compile(r"MIG mode is in pending (?:enable|disable) state"),
)
_SMI = re.compile(r"Warning: MIG mode is in pending (?:enable|disable) state")


@rule(codes=("I11",), severity=Severity.ERROR, stages=STAGES, asks_gpu=None, mutes=AFTER_MIG)
def reboot_pending(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.said(*_TEXTS, of=("mig-manager",)) or on.printed(("nvidia-smi",), _SMI),
        lambda on, told: "the new MIG mode is set and needs a reboot, which nobody does.",
        _remedies,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    env = '{"spec":{"migManager":{"env":[{"name":"WITH_REBOOT","value":"true"}]}}}'
    return (
        drain(on.name),
        Remedy(
            "Or let the MIG manager reboot nodes for such changes",
            f"kubectl patch clusterpolicy cluster-policy --type merge -p '{env}'",
            Risk.HIGH,
        ),
        *read_logs(told),
    )
