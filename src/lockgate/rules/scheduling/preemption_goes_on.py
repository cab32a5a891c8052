"""Preemption is under way: the scheduler ends other pods for this one.

It has chosen a node (`status.nominatedNodeName`) and asked pods of lower priority there to end; until they are gone the
pod waits.

Why it matters: the event still says `Insufficient nvidia.com/gpu`, as of a full node, and nobody has to do anything.
How to tell: the pod has a nominatedNodeName, and pods on that node are terminating whose GPUs are enough for it. One
that is long over its time of grace is stuck instead: then the GPUs are held.
Fix: wait for the pods that are terminating; their `terminationGracePeriodSeconds` says how long that may take.
"""

from lockgate.diagnosis.giving_way import giving_way
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import listed, pod_ref, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.model.facts import Missing, Pods, Snapshot
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod


@rule(codes=("C19",), severity=Severity.INFO, stages=(Stage.SCHEDULING,))
def preemption_goes_on(pod: Pod, gate_one: GateOne, pods: Pods | Missing, snapshot: Snapshot) -> Failed | None:
    victims = giving_way(pod, gate_one, pods, snapshot.taken_at)
    if not victims:
        return None
    node = pod.status.nominated_node_name
    named = listed(f"{v.namespace}/{v.name}" for v in victims)
    return Failed(
        about=pod_ref(pod),
        summary=f"The scheduler keeps {node} for it and waits until {named} is gone from there.",
        evidence=(
            Evidence(object=pod_ref(pod), field="status.nominatedNodeName", value=node),
            *(Evidence(object=pod_ref(v), field="metadata.deletionTimestamp", value=_due(v)) for v in victims),
            *some(scheduler_word(pod)),
        ),
        remedy=(
            Remedy(
                "Wait; if it lasts, see what keeps the pod that is terminating",
                f"kubectl describe pod -n {victims[0].namespace} {victims[0].name}",
                Risk.NONE,
            ),
        ),
    )


def _due(pod: Pod) -> str:
    return str(pod.metadata.deletion_timestamp)
