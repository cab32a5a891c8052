"""The kubelet refused or ended the pod, and not for an NVIDIA GPU.

The kubelet judges a pod once more when it arrives (CPU, memory, node selector, ports, a node that shuts down), and it
ends pods: when the node shuts down, when their own deadline is over, for memory, or to make room for critical ones.

Why it matters: the pod stays Failed for good, and nothing of it speaks of a program: where no container ever ran there
is no log to read.
How to tell: the pod's phase is Failed and `status.reason` names it: `NodeShutdown`, `Terminated`, `DeadlineExceeded`,
`OutOfcpu`, `NodeAffinity`, `Evicted` for memory.
Fix: mend what the reason names; then delete the pod, where no controller has made another one.
"""

import re
from typing import Final

from lockgate.accounting.texts import OutOf, parse_refusal
from lockgate.diagnosis.kubelet_words import made_anew, words_of_kubelet
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.model import names
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod

_NODE_GONE: Final = "the node was shutting down, which strikes every pod that was on it"
_LOST: Final = "the node no longer has what the pod selects"
# Kubernetes 1.37, pkg/kubelet: nodeshutdown/, active_deadline.go, eviction/, preemption/, lifecycle/predicate.go.
_REASONS: Final = {
    "NodeShutdown": _NODE_GONE,
    "Terminated": _NODE_GONE,
    "DeadlineExceeded": "it ran longer than its own spec.activeDeadlineSeconds",
    "Preempting": "a critical pod of the node (kube-system's) needed its room",
    "NodeAffinity": _LOST,
    "NodeName": "it names another node",
    "NodePorts": "a host port that it wants is in use there",
    "TaintToleration": "the node has a NoExecute taint that it does not tolerate",
    "PodOSSelectorNodeLabelDoesNotMatch": "it is for another operating system",
    "PodOSNotSupported": "it is for another operating system",
}
_EVICTED: Final = re.compile(r"low on resource: (?P<resource>memory|pids)")


@rule(
    codes=(),
    severity=Severity.BLOCKER,
    stages=(Stage.ADMISSION, Stage.FAILED),
    gpu=False,
    asks_gpu=None,
    mutes=("pod/no-gpu-asked",),
)
def ended(pod: Pod, stage: Stage) -> Failed | None:
    status, node = pod.status, pod.spec.node_name or "its node"
    meaning = _meaning(pod) if status.phase == "Failed" else ""
    if not meaning:
        return None
    return Failed(
        about=pod_ref(pod),
        title=f"The kubelet {'refused' if stage is Stage.ADMISSION else 'ended'} the pod, and not for an NVIDIA GPU",
        summary=f"{status.reason} on {node}: {meaning}.",
        evidence=words_of_kubelet(pod),
        remedy=(*_first_step(pod), *made_anew(pod)),
    )


def _meaning(pod: Pod) -> str:
    status = pod.status
    refusal = parse_refusal(status.reason, status.message)
    if isinstance(refusal, OutOf) and not names.is_gpu_resource(refusal.resource):
        asked = f", {refusal.requested} asked for, {refusal.used} of {refusal.capacity} in use"
        return f"too little {refusal.resource} was left{asked if refusal.capacity else ''}"
    if refusal is not None and refusal.resource and not names.is_gpu_resource(refusal.resource):
        return f"devices of {refusal.resource} were not to be had"
    if evicted := _EVICTED.search(status.message) if status.reason == "Evicted" else None:
        return f"the node ran out of {evicted['resource']}, and the kubelet ended pods to get some back"
    return _REASONS.get(status.reason, "")


def _first_step(pod: Pod) -> tuple[Remedy, ...]:
    if pod.status.reason == "DeadlineExceeded":
        return (Remedy("Raise spec.activeDeadlineSeconds, where it needs longer", "", Risk.LOW),)
    if pod.spec.node_name:
        text = f"See what {pod.spec.node_name} has and says of itself"
        return (Remedy(text, f"kubectl describe node {pod.spec.node_name}", Risk.NONE),)
    return ()
