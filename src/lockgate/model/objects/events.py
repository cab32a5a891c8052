"""Events, of both API groups."""

import datetime as dt

from lockgate.model.objects.meta import Moment, Object, Resource


class ObjectReference(Object, frozen=True):
    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    field_path: str = ""


class EventSeries(Object, frozen=True):
    count: int = 0
    last_observed_time: Moment | None = None


class EventSource(Object, frozen=True):
    component: str = ""
    host: str = ""


class Event(Resource, frozen=True):
    """A core/v1 Event; the names of events.k8s.io (`regarding`, `note`, `deprecatedCount`, ...) are read as well."""

    type: str = ""
    reason: str = ""
    message: str = ""
    note: str = ""
    count: int | None = None
    first_timestamp: Moment | None = None
    last_timestamp: Moment | None = None
    event_time: Moment | None = None
    series: EventSeries | None = None
    involved_object: ObjectReference = ObjectReference()
    regarding: ObjectReference | None = None
    source: EventSource = EventSource()
    reporting_component: str = ""
    deprecated_count: int | None = None
    deprecated_last_timestamp: Moment | None = None
    deprecated_source: EventSource | None = None

    @property
    def host(self) -> str:
        """The node of whoever wrote it, "" where that is on none."""
        return (self.deprecated_source or self.source).host

    @property
    def about(self) -> ObjectReference:
        return self.regarding or self.involved_object

    @property
    def text(self) -> str:
        return self.message or self.note

    @property
    def last_seen(self) -> dt.datetime | None:
        series = self.series.last_observed_time if self.series else None
        return (
            series
            or self.last_timestamp
            or self.deprecated_last_timestamp
            or self.event_time
            or self.first_timestamp
            or self.metadata.creation_timestamp
        )

    @property
    def times(self) -> int:
        """How often it happened, 0 where that is not told."""
        return (self.series.count if self.series else self.count or self.deprecated_count) or 0
