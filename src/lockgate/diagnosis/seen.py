"""Observed facts as evidence: the same fact reads the same in every finding."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lockgate.diagnosis.gate_row import GateRow
from lockgate.kit.counted import counted, few
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence
from lockgate.model.objects import Condition, Event, Pod
from lockgate.scheduling.messages import FailedScheduling, parse_failed_scheduling
from lockgate.scheduling.selectors import Miss

if TYPE_CHECKING:  # views quote what was seen, and so import this
    from lockgate.diagnosis.views.gate_one import GateOne
    from lockgate.diagnosis.views.pod_logs import PodLogs

_MOST_HOLDERS = 6
MOST_NODES = 10
_TROUBLE = re.compile(r"error|fail|fatal|panic|cannot|could not|unable|not found|no devices", re.IGNORECASE)


def gate_row(gate: "GateOne", row: GateRow) -> Evidence:
    """One node's arithmetic, with who holds what."""
    return Evidence(
        object=f"node/{row.node}",
        field=f"status.allocatable[{gate.resource}]",
        value=str(row.allocatable) if row.known else "absent",
        note=row.arithmetic() + holders(row),
    )


def label_missed(node: str, miss: Miss) -> Evidence:
    """A label that a node should have, and what it has instead."""
    value = "absent" if miss.seen is None else miss.seen
    return Evidence(
        object=f"node/{node}", field=f"metadata.labels[{miss.key}]", value=value, note=f"wanted {miss.wanted}"
    )


def gate_rows(gate: "GateOne", rows: Iterable[GateRow]) -> tuple[Evidence, ...]:
    """The arithmetic of several nodes; of many nodes the first ones, and how many are like them."""
    every = list(rows)
    shown = tuple(gate_row(gate, row) for row in every[:MOST_NODES])
    return (*shown, *more_nodes(len(every) - MOST_NODES))


def more_nodes(count: int) -> tuple[Evidence, ...]:
    """How many nodes are not shown one by one; nothing when all are."""
    return (Evidence(object="nodes", field="not shown", value=str(count), note="more like these"),) if count > 0 else ()


def holders(row: GateRow) -> str:
    """Who holds devices on a node: `; held by a (2), b (1)`; nothing when nobody does."""
    names = [f"{h.pod} ({h.count}{', terminating' if h.terminating else ''})" for h in row.holders]
    more = len(names) - _MOST_HOLDERS
    shown = ", ".join(names[:_MOST_HOLDERS]) + (f" and {more} more" if more > 0 else "")
    return f"; held by {shown}" if shown else ""


def asked(pod: Pod, resource: str, count: int) -> Evidence:
    """What the pod asks for."""
    return Evidence(object=pod_ref(pod), field=f"resources.limits[{resource}]", value=str(count))


def pod_ref(pod: Pod) -> str:
    """`pod/namespace/name`."""
    return f"pod/{pod.namespace}/{pod.name}" if pod.namespace else f"pod/{pod.name}"


def event(seen: Event) -> Evidence:
    """An event, verbatim."""
    ref = seen.about
    place = f"{ref.kind.lower()}/{ref.namespace}/{ref.name}" if ref.namespace else f"{ref.kind.lower()}/{ref.name}"
    note = counted(seen.times, "time") if seen.times > 1 else ""
    return Evidence(object=place, field=f"event {seen.reason}", verbatim=seen.text, note=note)


def condition_of(place: str, seen: Condition) -> Evidence:
    """A condition of an object's status, verbatim."""
    field = f"status.conditions[{seen.type}]"
    return Evidence(object=place, field=field, value=seen.status, verbatim=seen.message, note=seen.reason)


def scheduler_word(pod: Pod) -> Evidence | None:
    """What the scheduler last wrote about the pod, verbatim: the PodScheduled condition, which outlives its events."""
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False" and condition.message:
            return Evidence(
                object=pod_ref(pod),
                field="status.conditions[PodScheduled]",
                verbatim=condition.message,
                note=condition.reason,
            )
    return None


def scheduler_text(pod: Pod, events: Iterable[Event]) -> tuple[Evidence | None, FailedScheduling | None]:
    """The scheduler's latest words about the pod (condition, else event) and what they say.

    Autoscalers write events of the same reason; a text that is kube-scheduler's goes before one that is not.
    """
    word = scheduler_word(pod)
    if word is None:
        failed = [e for e in events if e.reason == "FailedScheduling"]
        own = [e for e in failed if parse_failed_scheduling(e.text)] or failed
        word = event(own[-1]) if own else None
    return word, parse_failed_scheduling(word.verbatim) if word else None


def log_lines(pod: str, logs: "PodLogs | Missing", most: int = 2) -> tuple[Evidence, ...]:
    """The last telling lines of a pod's logs, the newest container run first; its very last line where none tells."""
    namespace, _, name = pod.partition("/")
    own = () if isinstance(logs, Missing) else logs.of(namespace, name)
    found = []
    for log in sorted(own, key=lambda log: log.previous):
        lines = [line.strip() for line in log.text.splitlines() if line.strip()]
        telling = [line for line in lines if _TROUBLE.search(line)] or lines[-1:]
        where = f"log of {log.pod}/{log.container}" + (" (previous run)" if log.previous else "")
        found += [Evidence(object=where, verbatim=line[:500]) for line in telling[-most:]]
    return tuple(found[:most])


def some(*evidence: Evidence | None) -> tuple[Evidence, ...]:
    """Those that are there."""
    return tuple(e for e in evidence if e is not None)


def listed(names: Iterable[str], most: int = 4) -> str:
    """`a, b and 3 more`."""
    return few(names, most)
