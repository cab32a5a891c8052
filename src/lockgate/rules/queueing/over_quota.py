"""The pod's queue has used up its quota.

Volcano and KAI give each queue a share of the cluster; work beyond it waits, whatever the nodes have left.

Why it matters: it is a number that somebody wrote, not a lack of GPUs, and adding nodes changes nothing.
How to tell: the pod's condition or event says `over quota` (KAI) or `queue resource quota insufficient` (Volcano).
Fix: end other work of the queue, mark the work preemptible where the scheduler then lets it go over quota, or have the
quota raised.
"""

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.other_scheduler import OtherWords
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod
from lockgate.scheduling.other_schedulers import Refusal


@rule(
    codes=("B12",),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING,),
    gpu=False,
    asks_gpu=None,
    mutes=("scheduling/all-held", "scheduling/fragmented", "queueing/gang-waits"),
)
def over_quota(pod: Pod, other_words: OtherWords) -> Failed | None:
    said = other_words.about(Refusal.QUOTA)
    if said is None:
        return None
    return Failed(
        about=pod_ref(pod),
        summary=f"{said.refusal.scheduler}: {said.refusal.means}.",
        evidence=said.evidence,
        remedy=(
            Remedy("See the queue's quota, and what uses it", "kubectl get queues -A -o yaml", Risk.NONE),
            Remedy("End other work of the queue, or have its quota raised", "", Risk.MEDIUM),
        ),
    )
