"""SELinux keeps the container from its GPU.

NVML may not open the device (`Insufficient Permissions`), though the device is in the container.

Why it matters: it looks like a driver that is broken, and only the audit log tells.
How to tell: the node's kernel or audit log has `avc: denied` for the container's process and a device of NVIDIA's.
Fix: install the policy module for NVIDIA containers, or give the pod a type that may use devices
(`securityContext.seLinuxOptions`).
"""

import re

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.views.words import Words
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod

_TEXT = re.compile(r"[Ff]ailed to initialize NVML: Insufficient Permissions|NVMLError_NoPermission")
_DENIED = re.compile(r"avc:\s+denied.*nvidia")


@rule(
    codes=("J05",),
    severity=Severity.ERROR,
    stages=(Stage.RUNNING, Stage.FAILED),
    asks_gpu=None,
    mutes=(*BROKEN_NODE, "pod/no-gpu-asked"),
)
def selinux_denies(pod: Pod, words: Words, node_words: NodeWords) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    node = pod.spec.node_name
    denied = node_words.find_in_kernel(node, _DENIED)
    sure = "its audit log says so" if denied else "its audit log would tell"
    return Failed(
        about=pod_ref(pod),
        summary=f"NVML may not open the GPU: SELinux on {node} denies it ({sure}).",
        evidence=some(said.evidence, denied.evidence if denied else None),
        remedy=(
            Remedy(
                f"On {node}, see what was denied", "ausearch -m avc -ts recent | grep -i nvidia; getenforce", Risk.NONE
            ),
            Remedy(
                "Give the pod an SELinux type that may use devices (spec.securityContext.seLinuxOptions)", "", Risk.LOW
            ),
        ),
    )
