"""The MIG tool does not run on this node: its C library is too old.

The MIG manager runs its tool with the libraries of the host. It was built for a newer glibc than the host has.

Why it matters: MIG layouts cannot be applied on this node.
How to tell: `version GLIBC_2.34 not found`, said by nvidia-mig-parted.
Fix: use the MIG manager's image for the node's distribution (the ubi8 variant on RHEL 8), or a newer host.
"""

import re

from lockgate.diagnosis.followers import AFTER_MIG
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, image_of, read_logs
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# glibc's dynamic loader; NVIDIA's release notes name the case.
_TEXT = re.compile(r"nvidia-mig-parted: .*version [`']?(?P<version>GLIBC_[\d.]+)'? not found")


@rule(codes=("I14",), severity=Severity.ERROR, stages=STAGES, asks_gpu=None, mutes=AFTER_MIG)
def glibc(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.said(_TEXT, of=("mig-manager",)),
        lambda on, told: (
            f"the MIG tool of {image_of(told, 'manager')} needs {told.match['version']}, which the host lacks."
        ),
        _remedies,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(f"On {on.name}, see the C library", "ldd --version | head -1", Risk.NONE),
        Remedy("Use the MIG manager's image for the host's distribution", "kubectl edit clusterpolicy", Risk.MEDIUM),
        *read_logs(told),
    )
