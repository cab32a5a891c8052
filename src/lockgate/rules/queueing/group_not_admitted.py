"""The group of pods is not admitted by its queue yet, so none of its pods exists.

Volcano makes the pods of a Job only when its PodGroup has come into the queue: while the queue or the cluster has not
enough for the whole group, the PodGroup stays Pending.

Why it matters: there is no pod to describe and no event about one. What it waits for is in the PodGroup's conditions.
How to tell: the PodGroup that the Job owns has phase Pending, and the Job has no pod.
Fix: see what the queue may have and who uses it; ask for less (`minMember`, resources), or have its share raised.
"""

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import some
from lockgate.diagnosis.stage import Stage
from lockgate.kit.counted import counted
from lockgate.model.facts import Missing, PodGroups
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Workload
from lockgate.model.queues import PodGroup
from lockgate.scheduling.other_schedulers import parse_other

_WAITING = ("Pending", "")


@rule(
    codes=("B12",),
    severity=Severity.BLOCKER,
    stages=(Stage.NO_POD,),
    gpu=False,
    asks_gpu=None,
)
def group_not_admitted(workload: Workload, pod_groups: PodGroups | Missing) -> Failed | None:
    known = () if isinstance(pod_groups, Missing) else pod_groups
    group = next((g for g in known if _is_of(g, workload) and g.status.phase in _WAITING), None)
    if group is None:
        return None
    said = next((c for c in reversed(group.status.conditions) if c.message), None)
    meant = parse_other(said.message) if said else None
    why = meant.means if meant else said.message if said else "its scheduler has said nothing about it"
    place = f"podgroup/{group.namespace}/{group.name}"
    return Failed(
        about=place,
        summary=f"{workload.kind} {workload.name} waits in queue {group.spec.queue or 'default'}: {why}.",
        evidence=(
            Evidence(
                object=place,
                field="status.phase",
                value=group.status.phase or "none",
                note=f"wants {counted(group.spec.min_member, 'pod') if group.spec.min_member else 'some pods'} at once",
            ),
            *some(
                Evidence(object=place, field=f"status.conditions[{said.type}]", verbatim=said.message, note=said.reason)
                if said
                else None
            ),
        ),
        remedy=(
            Remedy(
                "See the group and its queue",
                f"kubectl describe podgroup -n {group.namespace} {group.name}; kubectl get queues",
                Risk.NONE,
            ),
        ),
    )


def _is_of(group: PodGroup, workload: Workload) -> bool:
    owners = group.metadata.owner_references
    return group.namespace == workload.namespace and any(
        o.kind == workload.kind and o.name == workload.name for o in owners
    )
