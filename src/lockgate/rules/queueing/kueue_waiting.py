"""Kueue holds the work back: its queue has not admitted it.

Kueue suspends a Job, or gates its pods, until the ClusterQueue behind its queue has quota for all of it. What it waits
for is in the conditions of the Workload object that Kueue made for it.

Why it matters: nodes may have free GPUs all the while. Quota is a number that somebody wrote; it can be smaller than
the hardware, or larger, and then admitted pods wait for GPUs as any pod does.
How to tell: the Job is suspended, or the pod has the gate `kueue.x-k8s.io/admission`; the Workload's QuotaReserved is
False.
Fix: wait, ask for less, or have the quota raised. A queue that does not exist or is stopped never admits anything.
"""

import re
from collections.abc import Iterable

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import condition_of, some
from lockgate.diagnosis.stage import Stage
from lockgate.model.facts import Missing, QueuedWorkloads
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Condition, Pod, Resource, Workload
from lockgate.model.queues import QueuedWorkload

_QUEUE = "kueue.x-k8s.io/queue-name"
_GATE = "kueue.x-k8s.io/"
# kueue 0.17 pkg/scheduler/flavorassigner; one part for each flavor and resource that does not fit.
_UNUSED = re.compile(
    r"insufficient unused quota for (?P<what>\S+) in flavor (?P<flavor>[^\s,]+), (?P<more>\S+) more needed"
)
_OVER = re.compile(
    r"insufficient quota for (?P<what>\S+) in flavor (?P<flavor>[^\s,]+), (?:.*?)\((?P<asked>[^()]+)\) "
    r"> maximum capacity \((?P<most>[^()]+)\)"
)


@rule(
    codes=("A13",),
    severity=Severity.BLOCKER,
    stages=(Stage.NO_POD, Stage.SCHEDULING),
    gpu=False,
    asks_gpu=None,
    mutes=("workload/asks-for-none", "scheduling/gated"),
)
def kueue_waiting(
    workload: Workload | Missing, pod: Pod | Missing, queued_workloads: QueuedWorkloads | Missing
) -> Failed | None:
    held = _held(workload, pod)
    if held is None:
        return None
    kind, it = held
    queue = it.metadata.labels.get(_QUEUE, "")
    known = () if isinstance(queued_workloads, Missing) else queued_workloads
    queued = next((q for q in known if _stands_for(q, kind, it)), None)
    if queued is None:
        return _unseen(kind, it, queue, isinstance(queued_workloads, Missing))
    waiting = next(iter(_decisive(queued)), None)
    why = _why(waiting.message) if waiting else "its queue has not looked at it yet"
    if queued.spec.active is False:
        why = f"its Workload was deactivated ({why})"
    place = f"workload/{queued.namespace}/{queued.name}"
    return Failed(
        about=place,
        summary=f"{kind} {it.name} waits in queue {queued.spec.queue_name or queue}: {why}.",
        evidence=some(condition_of(place, waiting) if waiting else None, _label(kind, it, queue), *_gates(it)),
        remedy=(
            Remedy(
                "See the quota of the queue, and what uses it",
                f"kubectl describe localqueue -n {it.namespace} {queued.spec.queue_name or queue}; "
                "kubectl get clusterqueues -o wide",
                Risk.NONE,
            ),
            Remedy("Ask for less, end other work of the queue, or have its quota raised", "", Risk.LOW),
        ),
    )


def _held(workload: Workload | Missing, pod: Pod | Missing) -> tuple[str, Resource] | None:
    """What Kueue holds: a pod that it gates, or a suspended workload that names a queue."""
    if isinstance(pod, Pod):
        return ("Pod", pod) if any(g.name.startswith(_GATE) for g in pod.spec.scheduling_gates) else None
    if isinstance(workload, Workload) and workload.spec.suspend and _QUEUE in workload.metadata.labels:
        return workload.kind, workload
    return None


def _stands_for(queued: QueuedWorkload, kind: str, it: Resource) -> bool:
    owners = queued.metadata.owner_references
    return queued.namespace == it.namespace and any(o.kind == kind and o.name == it.name for o in owners)


def _decisive(queued: QueuedWorkload) -> Iterable[Condition]:
    """The conditions that hold it, those first that come first on the way: quota, admission checks, an eviction."""
    holding = {"QuotaReserved": "False", "Admitted": "False", "Evicted": "True"}
    order = tuple(holding)
    own = (c for c in queued.status.conditions if holding.get(c.type) == c.status)
    return sorted(own, key=lambda c: order.index(c.type))


def _why(message: str) -> str:
    """Kueue's words about quota as arithmetic, where they are known; any other words as they are."""
    over = [
        f"{m['asked']} {m['what']} asked for, flavor {m['flavor']} can never give more than {m['most']}"
        for m in _OVER.finditer(message)
    ]
    unused = [f"{m['more']} more {m['what']} needed in flavor {m['flavor']}" for m in _UNUSED.finditer(message)]
    return "; ".join((*over, *unused)) or message.rstrip(".")


def _label(kind: str, it: Resource, queue: str) -> Evidence | None:
    place = f"{kind.lower()}/{it.namespace}/{it.name}"
    return Evidence(object=place, field=f"metadata.labels[{_QUEUE}]", value=queue) if queue else None


def _called(queue: str) -> str:
    return f"queue {queue}" if queue else "a queue of Kueue that it does not name"


def _gates(it: Resource) -> tuple[Evidence, ...]:
    """The gates of Kueue on a pod."""
    gates = [g.name for g in it.spec.scheduling_gates if g.name.startswith(_GATE)] if isinstance(it, Pod) else []
    place = f"pod/{it.namespace}/{it.name}"
    return tuple(Evidence(object=place, field="spec.schedulingGates", value=name) for name in gates)


def _unseen(kind: str, it: Resource, queue: str, unreadable: bool) -> Failed:
    """Kueue's own word is lacking: it may not be read, or Kueue has not made a Workload."""
    why = (
        "what it waits for is in Kueue's Workload, which was not read"
        if unreadable
        else "Kueue has made no Workload for it: its controller is down, or does not manage this kind"
    )
    return Failed(
        about=f"{kind.lower()}/{it.namespace}/{it.name}",
        summary=f"{kind} {it.name} is held for {_called(queue)}; {why}.",
        evidence=some(_label(kind, it, queue), *_gates(it)),
        remedy=(
            Remedy(
                "See Kueue's Workloads, and its controller",
                f"kubectl get workloads.kueue.x-k8s.io -n {it.namespace}; kubectl get pods -n kueue-system",
                Risk.NONE,
            ),
        ),
    )
