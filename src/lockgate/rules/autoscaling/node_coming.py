"""An autoscaler is adding a node for the pod.

cluster-autoscaler has raised the size of a pool, or Karpenter has ordered a node. It takes some minutes until the
machine is there, and some more until driver and device plugin have made its GPUs known.

Why it matters: a pool that stood at 0 nodes looks like a cluster without GPUs until then; nothing is broken.
How to tell: the latest event of an autoscaler about the pod is `TriggeredScaleUp` or `Nominated`, and not older than
the quarter of an hour after which both give a node up.
Fix: wait. If no node comes, the autoscaler's log and the cloud's quota tell why.
"""

from lockgate.diagnosis.autoscaler import coming
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import event, pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.model.facts import Events, Snapshot
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod


@rule(
    codes=("B09",),
    severity=Severity.INFO,
    stages=(Stage.SCHEDULING,),
    mutes=("scheduling/all-held", "scheduling/fragmented"),
)
def node_coming(pod: Pod, pod_events: Events, snapshot: Snapshot) -> Failed | None:
    said = coming(pod_events, snapshot.taken_at)
    if said is None:
        return None
    return Failed(
        about=pod_ref(pod),
        summary=f"{said.text.strip().rstrip('.')}.",
        passing=True,
        evidence=(event(said),),
        remedy=(Remedy("Wait for it, and see whether it joins", "kubectl get nodes -w", Risk.NONE),),
    )
