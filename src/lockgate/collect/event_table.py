"""The table that `kubectl get events` or `kubectl events` prints: events, and what they tell of their objects.

An event list shows no objects. Of each pod and workload in it as much is made as its events say: that it exists, its
node where the scheduler named it, and what the kubelet refused it for.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from lockgate.collect.event_places import homes, placed, unplaced
from lockgate.collect.event_rows import rows
from lockgate.model import names
from lockgate.model.facts import API_SECTIONS, Events, Missing, Snapshot
from lockgate.model.objects import (
    Condition,
    Container,
    ContainerState,
    ContainerStatus,
    DaemonSet,
    DaemonSetStatus,
    Event,
    Metadata,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    StateRunning,
    StateWaiting,
    Workload,
)
from lockgate.model.told import UNSEEN_CONTAINER, UNSEEN_NAMESPACE, UNSEEN_NODE, Part, ToldPod

_PLACED: Final = re.compile(r"Successfully assigned \S+ to (\S+)")
_LACKS: Final = re.compile(rf"Insufficient ({re.escape(names.GPU_PREFIX)}[^\s.,]+)")
_WORKLOADS: Final = {s.kind: s.section for s in API_SECTIONS if s.type is Workload}
# Reasons that somebody writes before a pod has a node; all others come from its node.
_BEFORE: Final = frozenset(("FailedScheduling", "Scheduled", "Preempted", "TriggeredScaleUp", "NotTriggerScaleUp"))
_REFUSALS: Final = ("UnexpectedAdmissionError", "TopologyAffinityError", "NodeAffinity", "AdmissionFailed", "OutOf")
_CONTAINER: Final = re.compile(
    r"restarting failed container[ =](\S+) in pod"
    r'|^(?:Started|Created) container:? "?([a-z0-9-]+)|container "([a-z0-9-]+)"'
)
_FIELD: Final = re.compile(r"spec\.(?:initC|c)ontainers\{([^}]+)\}")
_IMAGE: Final = re.compile(r'image "([^"]+)"')
# What the kubelet says of a container, and the reason for which that container then waits.
_WAITS: Final = (
    (re.compile(r"restarting failed container"), "CrashLoopBackOff"),
    (re.compile(r"^Failed to pull image|^Error: ErrImagePull"), "ErrImagePull"),
    (re.compile(r"^Back-off pulling image|^Error: ImagePullBackOff"), "ImagePullBackOff"),
    (re.compile(r"ErrImageNeverPull"), "ErrImageNeverPull"),
    (re.compile(r"InvalidImageName"), "InvalidImageName"),
)


def parse_events(text: str, namespace: str, known: Iterable[Snapshot] = ()) -> Snapshot:
    """The events of a table, as `event_rows` reads it, and what they tell of the objects that they are about.

    A table that does not show a namespace is of the one that is given; else what is known beside it tells.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    events = tuple(event for event, _ in rows(lines, namespace or UNSEEN_NAMESPACE))
    return told_by(placed(events, homes(known)))


def told_by(events: Events) -> Snapshot:
    """Events, and what they tell of the objects that they are about."""
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
    sets = tuple(_daemon_set(ns, name) for kind, ns, name in about if kind == "DaemonSet")
    found |= {"daemon_sets": sets} if sets else {}
    pods = tuple(_pod(ns, name, own) for (kind, ns, name), own in about.items() if kind == "Pod")
    found |= {"namespace_pods": pods} if pods else {}
    return Snapshot(**found | {"events": events}, left_out=unplaced(events))


def _daemon_set(namespace: str, name: str) -> DaemonSet:
    # How many pods it wants is not shown; that it wants one is why somebody asks about it here.
    return DaemonSet(
        metadata=Metadata(namespace=namespace, name=name), status=DaemonSetStatus(desired_number_scheduled=1)
    )


# --- what they tell of a pod


def _pod(namespace: str, name: str, events: list[Event]) -> Pod:
    # Which GPU resource it asks for may not be shown; that it asks for one is why somebody asks about it here.
    resource = next((found[1] for e in events if (found := _LACKS.search(e.message))), names.GPU)
    main = Container(name=_container(events), resources=ResourceRequirements(limits={resource: "1"}))
    return ToldPod(
        metadata=Metadata(namespace=namespace, name=name),
        spec=PodSpec(node_name=_node(events), containers=(main,)),
        status=_status(events, main.name),
        unseen=(Part.SPEC,),
    )


def _node(events: Iterable[Event]) -> str:
    events = tuple(events)
    placed = [found[1] for e in events if (found := _PLACED.search(e.message))]
    placed += [e.host for e in events if e.source.component == "kubelet" and e.host]
    reached = any(e.reason not in _BEFORE for e in events)
    return placed[-1] if placed else UNSEEN_NODE if reached else ""


def _container(events: Iterable[Event]) -> str:
    """The container that the newest event names."""
    named = (_FIELD.search(e.involved_object.field_path) or _CONTAINER.search(e.message) for e in events)
    found = [next(filter(None, name.groups())) for name in named if name]
    return found[-1] if found else UNSEEN_CONTAINER


def _status(events: list[Event], container: str) -> PodStatus:
    last = events[-1]
    if last.reason.startswith(_REFUSALS):
        return PodStatus(phase="Failed", reason=last.reason, message=last.message)
    if waits := next((reason for text, reason in _WAITS if text.search(last.message)), ""):
        images = [found[1] for e in events if (found := _IMAGE.search(e.message))]
        state = ContainerState(waiting=StateWaiting(reason=waits, message=last.message))
        status = ContainerStatus(name=container, image=images[-1] if images else "", state=state)
        phase = "Running" if waits == "CrashLoopBackOff" else "Pending"
        return PodStatus(phase=phase, container_statuses=(status,))
    if last.reason == "Started":
        unknown = Condition(type="Ready", status="Unknown", message="whether it is ready, events do not show")
        running = ContainerStatus(name=container, state=ContainerState(running=StateRunning()))
        return PodStatus(phase="Running", conditions=(unknown,), container_statuses=(running,))
    return PodStatus(phase="Pending")
