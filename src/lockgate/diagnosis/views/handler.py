"""The runtime handler that a pod needs on its node: what the kubelet said of it, else what its RuntimeClass names."""

import msgspec

from lockgate.diagnosis.views.gate_two import GateTwo
from lockgate.diagnosis.views.loaded import refusal
from lockgate.model.facts import Events, Missing, RuntimeClasses
from lockgate.model.objects import Event, Pod


class NeededHandler(msgspec.Struct, frozen=True):
    """The handler's name, "" when the pod names none; `refused` is the event that says that the node lacks it.

    `runtime` is whose words that event has, "" without one.
    """

    name: str
    refused: Event | None = None
    runtime: str = ""


def handler(
    pod: Pod, pod_events: Events | Missing, runtime_classes: RuntimeClasses | Missing, gate_two: GateTwo
) -> NeededHandler:
    """What the newest event says comes first: it is the node's own word, whatever was published before.

    Of a pod without such an event, and of a node, what the node said to another pod of the same handler counts.
    """
    for seen in reversed(() if isinstance(pod_events, Missing) else pod_events):
        if own := refusal(seen):
            return NeededHandler(own.handler, seen, own.runtime)
    name = _named(pod, runtime_classes)
    other = gate_two.on(pod.spec.node_name).refusals.get(name)
    return NeededHandler(name, other.event, other.runtime) if other else NeededHandler(name)


def sandbox_image_lost(pod_events: Events | Missing) -> Event | None:
    """The newest event that says that the node cannot get its sandbox (pause) image."""
    known = () if isinstance(pod_events, Missing) else pod_events
    return next((e for e in reversed(known) if "failed to get sandbox image" in e.text), None)


def _named(pod: Pod, classes: RuntimeClasses | Missing) -> str:
    name = pod.spec.runtime_class_name
    if not name or isinstance(classes, Missing):
        return ""
    return next((c.handler for c in classes if c.name == name), "")
