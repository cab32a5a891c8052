"""Which namespace events are of, where their table has no column for it: that of what they are about, if that is known.

`kubectl get events` prints one namespace, that of the context, and does not say which.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from lockgate.model.facts import API_SECTIONS, Events, LeftOut, Missing, Snapshot
from lockgate.model.objects import Event
from lockgate.model.told import UNSEEN_NAMESPACE

_NOT_SHOWN: Final = LeftOut(
    "namespace",
    "the table of events does not show in which namespace this is, nor who else is there",
    "say it with -n NAMESPACE",
    decides=False,
)
_Homes = Mapping[tuple[str, str], set[str]]  # (kind, name) -> the namespaces that have one


def homes(snapshots: Iterable[Snapshot]) -> _Homes:
    """In which namespaces each object that is known lies."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for snapshot in snapshots:
        for section in API_SECTIONS:
            known = getattr(snapshot, section.section)
            for each in () if isinstance(known, Missing) or section.section == "events" else known:
                found[section.kind, each.metadata.name].add(each.metadata.namespace)
        for pod in snapshot.known_pods:
            found["Pod", pod.name].add(pod.namespace)
    return found


def placed(events: Events, known: _Homes) -> Events:
    """Events of a namespace that is not shown, in the one that has what they are about, where it is one."""
    return tuple(_placed(event, known) if event.metadata.namespace == UNSEEN_NAMESPACE else event for event in events)


def unplaced(events: Iterable[Event]) -> tuple[LeftOut, ...]:
    """What is to be said where the namespace of an event stayed unknown."""
    return (_NOT_SHOWN,) if any(event.metadata.namespace == UNSEEN_NAMESPACE for event in events) else ()


def _placed(event: Event, known: _Homes) -> Event:
    about = event.involved_object
    there = known.get((about.kind, about.name), set())
    if len(there) != 1:
        return event
    (namespace,) = there
    return msgspec.structs.replace(
        event,
        metadata=msgspec.structs.replace(event.metadata, namespace=namespace),
        involved_object=msgspec.structs.replace(about, namespace=namespace),
    )
