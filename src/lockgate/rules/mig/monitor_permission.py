"""The device plugin may not look at MIG devices.

Reading the memory and state of MIG devices needs a capability that the toolkit gives only to containers that ask for
it: `NVIDIA_MIG_MONITOR_DEVICES=all`.

Why it matters: the plugin ends at its start on a node with MIG, so the node offers no GPU.
How to tell: `Insufficient Permissions` in its log, on a node whose GPUs are partitioned.
Fix: give the plugin that variable and let it run privileged; NVIDIA's operator does so with `mig.strategy` single or
mixed, so a strategy `none` on partitioned GPUs is the usual reason there.
"""

import re

from lockgate.diagnosis.followers import AFTER_PLUGIN
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# NVML's words for NVML_ERROR_NO_PERMISSION (k8s-device-plugin#399); where NVML does not even start it is SELinux.
_TEXT = re.compile(r"(?<!initialize NVML: )Insufficient Permissions")
_READERS = ("device-plugin", "gpu-feature-discovery", "dcgm-exporter", "dcgm")


@rule(codes=("I09",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=AFTER_PLUGIN)
def monitor_permission(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.said(_TEXT, of=_READERS),
        lambda on, told: f"{told.pod.name if told.pod else 'an operand'} may not read MIG devices.",
        _remedies,
        softer=Severity.WARNING,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(
            "See the strategy of the policy; it has to be single or mixed on partitioned GPUs",
            "kubectl get clusterpolicy -o jsonpath='{.items[*].spec.mig.strategy}'",
            Risk.NONE,
        ),
        *read_logs(told),
    )
