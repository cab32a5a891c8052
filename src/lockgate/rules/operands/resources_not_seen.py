"""The validator waits for GPUs that nobody registers.

Its last step looks for `nvidia.com/gpu` in the node's capacity, thirty times. The device plugin has to bring it.

Why it matters: the operator calls the node not validated for good, and driver upgrades wait for it.
How to tell: `GPU resources are not yet discovered by the node` in the log of plugin-validation.
Fix: mend the device plugin; where another one is used on purpose, or none (`devicePlugin.enabled: false`), update the
operator: newer ones leave the step out.
"""

import re

from lockgate.diagnosis.device_plugins import switches_off
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs, with_more
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.facts import ClusterPolicies, Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import ClusterPolicy

# gpu-operator validator/main.go (gpu-operator#486).
_TEXT = re.compile(r"GPU resources are not (?:yet )?discovered by the node")


@rule(
    codes=("I06",),
    severity=Severity.ERROR,
    stages=STAGES,
    asks_gpu=None,
    mutes=("operands/plugin-not-installed", "operands/crashes", "operands/init-waits", "operator/policy-not-ready"),
)
def resources_not_seen(ailing: Ailing, cluster_policies: ClusterPolicies | Missing) -> Outcome:
    policies = () if isinstance(cluster_policies, Missing) else cluster_policies
    off = next((p for p in policies if switches_off(p)), None)
    return blame(
        ailing,
        lambda on: with_more(on.said(_TEXT, of=("operator-validator",)), _seen(off) if off else None),
        lambda on, told: (
            "the validator waits for the device plugin's GPUs, "
            + (f"which policy {off.name} switches off." if off else "which do not come.")
        ),
        _remedies,
    )


def _seen(off: ClusterPolicy) -> Evidence:
    return Evidence(object=f"clusterpolicy/{off.name}", field="spec.devicePlugin.enabled", value="false")


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy("See the device plugin on the node", "kubectl gpu why operand/device-plugin", Risk.NONE),
        *read_logs(told),
    )
