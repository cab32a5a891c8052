"""The validator's own pod found no GPU left.

Its last step may start a pod that asks for one GPU. Where users hold them all, the kubelet refuses that pod.

Why it matters: it is a false alarm: the node works, and the validator says that it does not, which can hold up the
operator.
How to tell: `nvidia-device-plugin-validator` has failed with `Requested: 1, Available: 0`, and the GPUs are held.
Fix: nothing is broken. Let the validator skip the pod: `validator.plugin.env` with WITH_WORKLOAD=false, as newer
operators do by themselves.
"""

import re

from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# The kubelet's words (device manager) for a pod that came too late (gpu-operator#233).
_TEXT = re.compile(r"requested number of devices unavailable for (?P<resource>\S+)\. Requested: \d+, Available: 0")
_ENV = '{"spec":{"validator":{"plugin":{"env":[{"name":"WITH_WORKLOAD","value":"false"}]}}}}'


@rule(
    codes=("I07",),
    severity=Severity.WARNING,
    stages=STAGES,
    asks_gpu=None,
    mutes=("kubelet/refused", "operands/crashes", "operands/init-waits", "operator/policy-not-ready"),
)
def validation_refused(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.said(_TEXT, of=("plugin-validator",)) if on.advertises else None,
        lambda on, told: (
            f"every {told.match['resource']} was held when the validator's pod came; the node itself works."
        ),
        _remedies,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(
            "Let the validator skip that pod",
            f"kubectl patch clusterpolicy cluster-policy --type merge -p '{_ENV}'",
            Risk.MEDIUM,
        ),
    )
