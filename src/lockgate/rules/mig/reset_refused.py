"""The MIG layout cannot be applied: the GPU is in use.

To switch MIG on or off, or to change the layout, a GPU must be reset, which needs that nobody uses it: no pod, and no
program or module of the host (nvidia-persistenced, dcgm, nvsm, a display).

Why it matters: the node keeps its old layout, and the MIG manager tries again only when the label changes.
How to tell: `In use by another client` in the MIG manager's log.
Fix: drain the node's GPU pods, stop the host's programs (list them in the MIG manager's gpu-clients ConfigMap), then
set the label `nvidia.com/mig.config` anew.
"""

import re

from lockgate.diagnosis.followers import AFTER_MIG
from lockgate.diagnosis.remedies import drain
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, holders, read_logs
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model import names
from lockgate.model.facts import Missing, Pods
from lockgate.model.finding import Remedy, Risk, Severity

# nvidia-smi 550.163, through mig-parted (gpu-operator#1845, mig-parted#181).
_TEXTS = (
    re.compile(r"In use by another client"),
    re.compile(r"The following GPUs could not be reset"),
)


@rule(codes=("I10",), severity=Severity.ERROR, stages=STAGES, asks_gpu=None, mutes=AFTER_MIG)
def reset_refused(ailing: Ailing, pods: Pods | Missing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.said(*_TEXTS, of=("mig-manager",)),
        lambda on, told: f"the MIG layout cannot be changed while the GPU is in use; {holders(on, pods)}.",
        _remedies,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    wanted = on.node.metadata.labels.get(names.MIG_CONFIG, "NAME") if on.node else "NAME"
    label = f"kubectl label node {on.name} {names.MIG_CONFIG}"
    return (
        Remedy(f"On {on.name}, see what uses the GPUs", "sudo lsof /dev/nvidia*; nvidia-smi", Risk.NONE),
        drain(on.name, f"Drain {on.name}: its GPU pods have to end"),
        Remedy("Then ask for the layout anew", f"{label}-; {label}={wanted}", Risk.HIGH),
        *read_logs(told),
    )
