"""What is said about a pod: the states of its containers, its events, its logs; rules look for a text among them.

States come before events, events before logs, and the newest of each first: what is nearer to the moment counts more.
Of a pod that is ready only what it says now counts: its present states, and the log of this run.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec

from lockgate.diagnosis.seen import event, pod_ref
from lockgate.diagnosis.stage import is_ready, statuses
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.model.facts import Events, Log, Missing
from lockgate.model.finding import Evidence
from lockgate.model.objects import ContainerStatus, Pod

_LONGEST = 500  # of a log's line, as evidence


class Said(msgspec.Struct, frozen=True):
    """A text that a rule looked for: the match, where it was read, and the container that it is about ("" unknown)."""

    match: re.Match[str]
    evidence: Evidence
    container: str = ""


class Words:
    """All texts about one pod; nothing is copied until it is looked for."""

    def __init__(self, pod: Pod, events: Events, logs: tuple[Log, ...]) -> None:
        self._pod, self._only_now = pod, is_ready(pod)
        self._events = () if self._only_now else events
        self._logs = tuple(log for log in logs if not (self._only_now and log.previous))

    def find_outside_logs(self, *patterns: re.Pattern[str]) -> Said | None:
        """As `find`, among states and events alone: what kubelet and runtime said, not the program itself."""
        return next((said for pattern in patterns for said in self._by_others(pattern)), None)

    def find(self, *patterns: re.Pattern[str]) -> Said | None:
        """The first text that one of the patterns fits; a pattern that stands before another one wins."""
        return next((said for pattern in patterns for said in self._all(pattern)), None)

    def _all(self, pattern: re.Pattern[str]) -> Iterator[Said]:
        yield from self._by_others(pattern)
        yield from self._log_lines(pattern)

    def _by_others(self, pattern: re.Pattern[str]) -> Iterator[Said]:
        yield from self._states(pattern)
        for seen in reversed(self._events):
            if match := pattern.search(seen.text):
                yield Said(match, event(seen), _container(seen.about.field_path))

    def _states(self, pattern: re.Pattern[str]) -> Iterator[Said]:
        for status in statuses(self._pod):
            for field, reason, message in _messages(status, self._only_now):
                if match := pattern.search(message):
                    where = f"status.containerStatuses[{status.name}].{field}"
                    seen = Evidence(object=pod_ref(self._pod), field=where, verbatim=message, note=reason)
                    yield Said(match, seen, status.name)
        if match := pattern.search(self._pod.status.message):
            seen = Evidence(object=pod_ref(self._pod), field="status.message", verbatim=self._pod.status.message)
            yield Said(match, seen)

    def _log_lines(self, pattern: re.Pattern[str]) -> Iterator[Said]:
        for log in self._logs:
            if not pattern.search(log.text):
                continue
            for line in reversed(log.text.splitlines()):
                if match := pattern.search(line):
                    run = " (previous run)" if log.previous else ""
                    where = f"log of {log.pod}/{log.container}{run}"
                    yield Said(match, Evidence(object=where, verbatim=line.strip()[:_LONGEST]), log.container)


def words(pod: Pod, pod_events: Events | Missing, pod_logs: PodLogs | Missing) -> Words:
    """Bring together what is said about a pod; what is not known says nothing."""
    events = () if isinstance(pod_events, Missing) else pod_events
    own = () if isinstance(pod_logs, Missing) else pod_logs.of(pod.namespace, pod.name)
    return Words(pod, events, tuple(sorted(own, key=lambda log: log.previous)))


def _messages(status: ContainerStatus, only_now: bool) -> Iterable[tuple[str, str, str]]:
    """Field, reason and message of each state, the present one first."""
    past = () if only_now else (("lastState", status.last_state),)
    for name, state in (("state", status.state), *past):
        for part, found in (("waiting", state.waiting), ("terminated", state.terminated)):
            if found is not None and (found.message or found.reason):
                yield f"{name}.{part}", found.reason, found.message


def _container(field_path: str) -> str:
    """`spec.containers{main}` names main."""
    return field_path.partition("{")[2].rstrip("}")
