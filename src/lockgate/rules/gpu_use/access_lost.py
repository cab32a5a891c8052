"""A running container has lost the access to its GPU.

It worked, and then NVML answers `Unknown Error`, while the host still sees the GPU. systemd has written the device
rules of the container's cgroup anew (`systemctl daemon-reload`, or a change of the CPU manager), without the GPU's
devices, which the hook had added behind its back.

Why it matters: the pod stays Running and cannot compute, and the next reload does the same to every pod that gets its
GPU in this way.
How to tell: the first lines of the log show a working GPU; `nvidia-smi` works on the host and in a new pod.
Fix: delete the pod, so that it is made anew. To keep it from coming back inject by CDI, or set
`PASS_DEVICE_SPECS=true` for the device plugin, so that the runtime itself knows the devices. An old runc needs the
device links below /dev/char as well.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.views.words import Words
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod

_TEXT = re.compile(r"[Ff]ailed to initialize NVML: Unknown Error|nvml: Unknown Error|NVMLError_Unknown: Unknown Error")
_RELOAD = re.compile(r"systemd\[1\]: Reload(?:ing|ed)\b")


@rule(codes=("J03",), severity=Severity.ERROR, stages=(Stage.RUNNING, Stage.FAILED))
def access_lost(pod: Pod, words: Words, node_words: NodeWords) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    node = pod.spec.node_name
    reload = node_words.find_in_kubelet(node, _RELOAD)
    since = "; systemd reloaded there" if reload else ""
    return Failed(
        about=pod_ref(pod),
        summary=f"NVML in it answers Unknown Error: its cgroup on {node} no longer admits the GPU's devices{since}.",
        evidence=some(said.evidence, reload.evidence if reload else None),
        remedy=(
            Remedy("Make the pod anew", f"kubectl delete pod -n {pod.namespace} {pod.name}", Risk.LOW),
            Remedy(
                "Keep it from coming back: let CDI inject the devices",
                "kubectl get clusterpolicy -o jsonpath='{.items[*].spec.cdi}'",
                Risk.NONE,
            ),
        ),
    )
