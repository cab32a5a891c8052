"""The MIG configuration that a node asks for does not exist.

The label `nvidia.com/mig.config` names an entry of the MIG manager's configuration. There is none of that name, or it
does not fit the GPUs of the node.

Why it matters: the node keeps its old layout; `nvidia.com/mig.config.state` says failed.
How to tell: the MIG manager's log says that the selected configuration is not present.
Fix: choose a name that is there, or add one to the ConfigMap. Profile names carry the memory of the board: what is
1g.5gb on an A100 of 40 GB is 1g.10gb on one of 80 GB.
"""

import re

from lockgate.diagnosis.followers import AFTER_MIG
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs, with_more
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model import names
from lockgate.model.finding import Evidence, Remedy, Risk, Severity

# mig-parted, as the real binary says it (mig-parted#100).
_TEXT = re.compile(r"selected mig-config not present")


@rule(codes=("I12",), severity=Severity.ERROR, stages=STAGES, asks_gpu=None, mutes=AFTER_MIG)
def config_unknown(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: with_more(on.said(_TEXT, of=("mig-manager",)), _asked(on)),
        lambda on, told: f'there is no MIG configuration named "{_wanted(on)}".',
        _remedies,
    )


def _wanted(on: NodeStack) -> str:
    return on.node.metadata.labels.get(names.MIG_CONFIG, "") if on.node else ""


def _asked(on: NodeStack) -> Evidence:
    return Evidence(
        object=f"node/{on.name}", field=f"metadata.labels[{names.MIG_CONFIG}]", value=_wanted(on) or "absent"
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    space = told.pod.namespace if told.pod else "gpu-operator"
    return (
        Remedy(
            "See which names there are",
            f"kubectl get configmaps -n {space} -o yaml default-mig-parted-config {on.name}-mig-config",
            Risk.NONE,
        ),
        Remedy("Choose one of them", f"kubectl label node {on.name} --overwrite {names.MIG_CONFIG}=NAME", Risk.HIGH),
        *read_logs(told),
    )
