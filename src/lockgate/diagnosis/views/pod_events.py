"""The events about the pod that is asked about, or about the workload and its controllers, oldest first."""

from lockgate.diagnosis.views.events_by_object import EventsByObject, in_order
from lockgate.model.facts import Events, Missing
from lockgate.model.narrowing import Narrowing
from lockgate.model.objects import Pod, Workload


def pod_events(pod: Pod, events_by_object: EventsByObject, narrowing: Narrowing) -> Events | Missing:
    """The events about this very pod; Missing where the facts were gathered for other pods."""
    if not narrowing.covers(pod.namespace, pod.metadata.labels):
        return _not_gathered(narrowing)
    return events_by_object.of("Pod", pod)


def workload_events(
    workload: Workload, controllers: tuple[Workload, ...], events_by_object: EventsByObject, narrowing: Narrowing
) -> Events | Missing:
    """The events about a workload and about the controllers below it (a Deployment's ReplicaSets); Missing likewise."""
    if not narrowing.covers_namespace(workload.namespace):
        return _not_gathered(narrowing)
    return in_order(e for owner in (workload, *controllers) for e in events_by_object.of(owner.kind, owner))


def _not_gathered(narrowing: Narrowing) -> Missing:
    return Missing(f"events: gathered only for {narrowing.text}", "kubectl gpu collect -o FILE, without -n and -l")
