"""The table that `kubectl get events` or `kubectl events` prints: events, and what they tell of their objects.

An event list shows no objects. Of each pod and workload in it as much is made as its events say: that it exists, its
node where the scheduler named it, and what the kubelet refused it for.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from lockgate.model import names
from lockgate.model.facts import API_SECTIONS, BY_KIND, Missing, Snapshot
from lockgate.model.objects import (
    Condition,
    Container,
    ContainerState,
    ContainerStatus,
    Event,
    Metadata,
    ObjectReference,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    StateRunning,
    StateWaiting,
    Workload,
)

_HEADER: Final = re.compile(r"^(?:NAMESPACE +)?LAST SEEN +TYPE +REASON +OBJECT .*MESSAGE.*$", re.MULTILINE)
_TIMES: Final = re.compile(r"\(x(\d+) over")
_PLACED: Final = re.compile(r"Successfully assigned \S+ to (\S+)")
_LACKS: Final = re.compile(rf"Insufficient ({re.escape(names.GPU_PREFIX)}[^\s.,]+)")
_KINDS: Final = {kind.lower(): kind for kind in BY_KIND}
_WORKLOADS: Final = {s.kind: s.section for s in API_SECTIONS if s.type is Workload}
# Reasons that somebody writes before a pod has a node; all others come from its node.
_BEFORE: Final = frozenset(("FailedScheduling", "Scheduled", "Preempted", "TriggeredScaleUp", "NotTriggerScaleUp"))
_REFUSALS: Final = ("UnexpectedAdmissionError", "TopologyAffinityError", "NodeAffinity", "AdmissionFailed", "OutOf")
_UNSEEN: Final = "(not shown)"


def looks_like_events(text: str) -> bool:
    """Whether a text holds the head of such a table."""
    return _HEADER.search(text) is not None


def parse_events(text: str, namespace: str) -> Snapshot:
    """The events, and the objects that they are about; everything else is Missing.

    A table without a column for it is of one namespace, the one that is given.
    """
    events = tuple(_events(text, namespace))
    found: dict[str, Any] = {
        s.section: Missing("an event list does not show it", f"kubectl get {s.plural} -A -o json") for s in API_SECTIONS
    }
    about: dict[tuple[str, str, str], list[Event]] = {}
    for event in events:
        ref = event.involved_object
        about.setdefault((ref.kind, ref.namespace, ref.name), []).append(event)
    for kind, section in _WORKLOADS.items():
        made = tuple(
            Workload(metadata=Metadata(namespace=ns, name=name), kind=kind) for k, ns, name in about if k == kind
        )
        found |= {section: made} if made else {}
    pods = tuple(_pod(ns, name, own) for (kind, ns, name), own in about.items() if kind == "Pod")
    return Snapshot(**found | {"events": events, "namespace_pods": pods})


# --- the table


def _events(text: str, namespace: str) -> Iterator[Event]:
    lines = text.replace("\r\n", "\n").split("\n")
    columns: list[tuple[str, int]] = []
    for line in lines:
        if _HEADER.match(line):
            columns = [(found[0], found.start()) for found in re.finditer(r"\S+(?: \S+)*", line)]
        elif columns and line.strip():
            cells = _cells(line, columns)
            if cells.get("TYPE") in ("Normal", "Warning") and "/" in cells.get("OBJECT", ""):
                yield _event(cells, namespace)


def _cells(line: str, columns: list[tuple[str, int]]) -> dict[str, str]:
    """By the places of the head; by gaps of two blanks where the columns were shifted on their way here."""
    starts = [start for _, start in columns]
    if all(start == 0 or line[start - 1 : start] in (" ", "") for start in starts):
        ends = (*starts[1:], None)
        texts = [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    else:
        texts = re.split(r"\s{2,}|\t", line.strip(), maxsplit=len(columns) - 1)
    return dict(zip((name for name, _ in columns), texts, strict=False))


def _event(cells: dict[str, str], namespace: str) -> Event:
    kind, _, name = cells["OBJECT"].partition("/")
    namespace = cells.get("NAMESPACE", namespace)
    times = _TIMES.search(cells.get("LAST SEEN", ""))
    return Event(
        metadata=Metadata(namespace=namespace),
        type=cells["TYPE"],
        reason=cells.get("REASON", ""),
        message=cells.get("MESSAGE", ""),
        count=int(times[1]) if times else None,
        involved_object=ObjectReference(kind=_KINDS.get(kind.lower(), kind), namespace=namespace, name=name),
    )


# --- what they tell of a pod


def _pod(namespace: str, name: str, events: list[Event]) -> Pod:
    # Which GPU resource it asks for may not be shown; that it asks for one is why somebody asks about it here.
    resource = next((found[1] for e in events if (found := _LACKS.search(e.message))), names.GPU)
    main = Container(name="main", resources=ResourceRequirements(limits={resource: "1"}))
    return Pod(
        metadata=Metadata(namespace=namespace, name=name),
        spec=PodSpec(node_name=_node(events), containers=(main,)),
        status=_status(events),
    )


def _node(events: Iterable[Event]) -> str:
    placed = [found[1] for e in events if (found := _PLACED.search(e.message))]
    reached = any(e.reason not in _BEFORE for e in events)
    return placed[-1] if placed else _UNSEEN if reached else ""


def _status(events: list[Event]) -> PodStatus:
    last = events[-1]
    if last.reason.startswith(_REFUSALS):
        return PodStatus(phase="Failed", reason=last.reason, message=last.message)
    if last.reason == "BackOff" and "restarting failed container" in last.message:
        state = ContainerState(waiting=StateWaiting(reason="CrashLoopBackOff", message=last.message))
        return PodStatus(phase="Running", container_statuses=(ContainerStatus(name="main", state=state),))
    if last.reason == "Started":
        unknown = Condition(type="Ready", status="Unknown", message="whether it is ready, events do not show")
        running = ContainerStatus(name="main", state=ContainerState(running=StateRunning()))
        return PodStatus(phase="Running", conditions=(unknown,), container_statuses=(running,))
    return PodStatus(phase="Pending")
