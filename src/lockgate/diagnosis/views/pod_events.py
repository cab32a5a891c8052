"""The events about the pod that is asked about, or about the workload and its controllers, oldest first."""

import datetime as dt
from collections.abc import Iterable

from lockgate.model.facts import Events, Missing
from lockgate.model.narrowing import Narrowing
from lockgate.model.objects import Event, Pod, Resource, Workload

_EARLIEST = dt.datetime.min.replace(tzinfo=dt.UTC)


def pod_events(pod: Pod, events: Events, narrowing: Narrowing) -> Events | Missing:
    """The events about this very pod: by uid where both have one, so that a namesake of the past does not speak.

    Missing where the facts were gathered for other pods.
    """
    if not narrowing.covers(pod.namespace, pod.metadata.labels):
        return _not_gathered(narrowing)
    return events_of(events, "Pod", pod)


def workload_events(
    workload: Workload, controllers: tuple[Workload, ...], events: Events, narrowing: Narrowing
) -> Events | Missing:
    """The events about a workload and about the controllers below it (a Deployment's ReplicaSets); Missing likewise."""
    if not narrowing.covers_namespace(workload.namespace):
        return _not_gathered(narrowing)
    owners = (workload, *controllers)
    return _in_order(e for e in events if any(_about(e, owner.kind, owner) for owner in owners))


def events_of(events: Events, kind: str, it: Resource) -> Events:
    """The events about one object, oldest first."""
    return _in_order(e for e in events if _about(e, kind, it))


def _not_gathered(narrowing: Narrowing) -> Missing:
    return Missing(f"events: gathered only for {narrowing.text}", "kubectl gpu collect -o FILE, without -n and -l")


def _about(event: Event, kind: str, it: Resource) -> bool:
    ref = event.about
    if ref.kind != kind or ref.name != it.name or (ref.namespace and it.namespace and ref.namespace != it.namespace):
        return False
    return not (ref.uid and it.metadata.uid) or ref.uid == it.metadata.uid


def _in_order(events: Iterable[Event]) -> Events:
    return tuple(sorted(events, key=lambda e: (e.last_seen or _EARLIEST, e.name)))
