"""The autoscaler does not add a node for the pod.

cluster-autoscaler and Karpenter ask of each pool whether a new node of it would take the pod. Their answer is an event
of the pod: no pool has such GPUs, the pools are at their maximum, or the pod's own wishes exclude them.

Why it matters: the GPUs that are there are taken, and the rescue that everybody waits for is not coming.
How to tell: the pod has an event `NotTriggerScaleUp`, or one of Karpenter that begins `Failed to schedule pod`.
Fix: let a GPU pool grow. A pool that stands at 0 nodes must say that its nodes have GPUs, or cluster-autoscaler does
not know (tags `k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu` on its group).
"""

from typing import Final

from lockgate.diagnosis.autoscaler import COMING, KARPENTER_REFUSAL, coming, last_word
from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import event, listed, pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.model import names
from lockgate.model.facts import Events, Missing, Snapshot
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod
from lockgate.scheduling.causes import Cause, Reason
from lockgate.scheduling.messages import NotTriggeredScaleUp, parse_scale_up

_LONGEST = 300
_TAG: Final = f"k8s.io/cluster-autoscaler/node-template/resources/{names.GPU}"
_Meaning = tuple[str, Remedy]


@rule(
    codes=("B09",),
    severity=Severity.ERROR,
    stages=(Stage.SCHEDULING,),
    mutes=("discovery/no-gpu-node",),
)
def no_node_added(pod: Pod, pod_events: Events | Missing, snapshot: Snapshot) -> Failed | Passed | None:
    events = () if isinstance(pod_events, Missing) else pod_events
    said = last_word(events)
    if said is None:
        return None
    if coming(events, snapshot.taken_at):
        return Passed(f"a node is on its way: {said.text}")
    if said.reason in COMING:
        return None  # it was, and is due for long
    scale_up, karpenter = parse_scale_up(said.text), KARPENTER_REFUSAL.search(said.text)
    meaning, remedy = _of_groups(scale_up) if scale_up else _of_karpenter(karpenter["why"] if karpenter else said.text)
    return Failed(
        about=pod_ref(pod),
        title=f"{'cluster-autoscaler' if scale_up else 'Karpenter'} does not add a node for the pod",
        summary=f"{meaning}.",
        evidence=(event(said),),
        remedy=(remedy,),
    )


def _of_groups(said: NotTriggeredScaleUp) -> _Meaning:
    """cluster-autoscaler counts node groups by the reason that excludes them."""
    full = [r for r in said.reasons if r.cause is Cause.GROUP_SIZE]
    without = [r for r in said.reasons if r.cause is Cause.INSUFFICIENT and names.is_gpu_resource(r.resource)]
    groups = (
        f"Of its node groups: {listed(map(_group, said.reasons))}" if said.reasons else "It knows no group that fits"
    )
    if full:
        return groups, Remedy("Raise the maximum of the GPU group, or end pods that hold its GPUs", "", Risk.MEDIUM)
    if without:
        text = f"See that a GPU group says so, by the tag {_TAG}=COUNT, and that its nodes have that many"
        return groups, Remedy(text, "kubectl get configmap -n kube-system cluster-autoscaler-status -o yaml", Risk.NONE)
    return groups, Remedy("Compare the pod's selectors and tolerations with the groups", "", Risk.LOW)


def _group(reason: Reason) -> str:
    return f"{reason.count} {'is full' if reason.cause is Cause.GROUP_SIZE else 'would not do'} ({reason.text})"


def _of_karpenter(why: str) -> _Meaning:
    remedy = Remedy(
        "Compare the pod's wishes with the NodePools and their limits", "kubectl get nodepools -o yaml", Risk.NONE
    )
    short = why.strip().rstrip(".")
    return f"No NodePool can make a node for it: {short[:_LONGEST]}{' ...' if len(short) > _LONGEST else ''}", remedy
