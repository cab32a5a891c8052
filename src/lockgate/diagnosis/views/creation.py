"""Why pods of what is asked about could not even be made: what the API server answered to its controller.

The controller tries again and again, so the newest refusal counts: its event, else the ReplicaFailure condition, which
outlives events. A workload that has all its pods, and an operand's DaemonSet that has, was refused nothing.
"""

import re
from collections.abc import Iterable, Iterator

from lockgate.diagnosis.seen import event
from lockgate.diagnosis.views.events_by_object import EventsByObject
from lockgate.diagnosis.views.words import Said
from lockgate.model.facts import Events, Missing
from lockgate.model.finding import Evidence
from lockgate.model.objects import DaemonSet, Workload

# `FailedCreate` is what Kubernetes' own controllers write, `FailedCreatePod` Kubeflow's.
_REFUSED = "Failed"


class Creation:
    """The refusal that stands between a maker of pods (a workload or an operand's DaemonSet) and its pods."""

    def __init__(self, maker: Workload | DaemonSet | None, word: Evidence | None) -> None:
        self.maker, self.word = maker, word

    @property
    def namespace(self) -> str:
        """The namespace in which the pods are refused."""
        return self.maker.namespace if self.maker else ""

    def find(self, *patterns: re.Pattern[str]) -> Said | None:
        """The refusal, where one of the patterns fits it; a pattern that stands before another one wins."""
        word = self.word
        found = (p.search(word.verbatim) for p in patterns) if word else iter(())
        match = next((m for m in found if m), None)
        return Said(match, word) if match and word else None


def creation(
    workload: Workload | Missing,
    controllers: tuple[Workload, ...],
    operand: DaemonSet | Missing,
    workload_events: Events | Missing,
    events_by_object: EventsByObject | Missing,
) -> Creation:
    """The refusal of a workload and of the controllers below it, or of an operand's DaemonSet."""
    if not isinstance(operand, Missing):
        return _of_daemon_set(operand, events_by_object)
    if isinstance(workload, Missing):
        return Creation(None, None)
    own = () if isinstance(workload_events, Missing) else workload_events
    words = (*_newest(own), *_conditions((workload, *controllers)))
    return Creation(workload, next(iter(words), None))


def _of_daemon_set(owner: DaemonSet, events: EventsByObject | Missing) -> Creation:
    whole = owner.status.current_number_scheduled >= owner.status.desired_number_scheduled
    own = () if isinstance(events, Missing) or whole else events.of("DaemonSet", owner)
    return Creation(owner, next(_newest(own), None))


def _newest(events: Events) -> Iterator[Evidence]:
    refusals = [e for e in events if e.type == "Warning" and e.reason.startswith(_REFUSED)]
    yield from (event(e) for e in refusals[-1:])


def _conditions(owners: Iterable[Workload]) -> Iterator[Evidence]:
    for owner in owners:
        for condition in owner.status.conditions:
            if condition.type == "ReplicaFailure" and condition.status == "True":
                place = f"{owner.kind.lower()}/{owner.namespace}/{owner.name}"
                yield Evidence(object=place, field=f"status.conditions[{condition.type}]", verbatim=condition.message)
