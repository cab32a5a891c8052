"""The events, by the objects that they are about: a cluster has a million of them, and each pod asks for its own."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable

from lockgate.model.facts import Events
from lockgate.model.objects import Event, Resource

_EARLIEST = dt.datetime.min.replace(tzinfo=dt.UTC)


class EventsByObject:
    """The events that are known."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._about: dict[tuple[str, str], list[Event]] = defaultdict(list)
        for event in events:
            self._about[event.about.kind, event.about.name].append(event)

    def of(self, kind: str, it: Resource) -> Events:
        """Those about one object, oldest first: by uid where both have one, as a namesake of the past is another."""
        return in_order(e for e in self._about.get((kind, it.name), ()) if _is_of(e, it))


def in_order(events: Iterable[Event]) -> Events:
    """Oldest first."""
    return tuple(sorted(events, key=lambda e: (e.last_seen or _EARLIEST, e.name)))


def events_by_object(events: Events) -> EventsByObject:
    """Sort them once."""
    return EventsByObject(events)


def _is_of(event: Event, it: Resource) -> bool:
    ref = event.about
    if ref.namespace and it.namespace and ref.namespace != it.namespace:
        return False
    # node-problem-detector and older kubelets give a node's name for its uid.
    return not (ref.uid and it.metadata.uid) or ref.uid in (it.metadata.uid, it.name)
