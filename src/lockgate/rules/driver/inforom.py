"""A GPU's infoROM is corrupted.

A small memory on the board holds its identity and settings. `nvidia-smi` warns and ends with code 14, which counts as a
failure though the GPU may work.

Why it matters: the validator takes the driver for broken, and the operands of the node wait for it for good.
How to tell: the warning stands in the log of driver-validation, with the GPU's address.
Fix: have the board replaced; until then its node can be left out (`nvidia.com/gpu.deploy.operands=false`).
"""

import re

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# nvidia-smi 535.261; NVIDIA's troubleshooting page.
_TEXT = re.compile(r"WARNING: infoROM is corrupted(?: at gpu (?P<gpu>[0-9a-fA-F:.]+))?")


@rule(codes=("H13",), severity=Severity.ERROR, stages=STAGES, asks_gpu=None, mutes=AFTER_DRIVER)
def inforom(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.said(_TEXT) or (on.printed(("nvidia-smi", "nvidia-smi-q"), _TEXT) if on.is_closed else None),
        lambda on, told: f"the infoROM of GPU {told.match['gpu'] or '(see nvidia-smi)'} is corrupted.",
        _remedies,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(f"On {on.name}, see which board it is", "nvidia-smi -q | grep -E 'Serial|Bus Id|infoROM'", Risk.NONE),
        *read_logs(told),
    )
