"""The runtime handler that a pod needs on its node: what the kubelet said of it, else what its RuntimeClass names."""

import re

import msgspec

from lockgate.model.facts import Events, Missing, RuntimeClasses
from lockgate.model.objects import Event, Pod

CONTAINERD, CRIO, DOCKER = "containerd", "CRI-O", "cri-dockerd"
_TEXTS = (
    (CONTAINERD, re.compile(r'no runtime for "(?P<handler>[^"]*)" is configured')),
    (CRIO, re.compile(r"failed to find runtime handler (?P<handler>\S+) from runtime list")),
    (DOCKER, re.compile(r'RuntimeHandler "(?P<handler>[^"]*)" not supported')),
)


class NeededHandler(msgspec.Struct, frozen=True):
    """The handler's name, "" when the pod names none; `refused` is the event that says that the node lacks it.

    `runtime` is whose words that event has, "" without one.
    """

    name: str
    refused: Event | None = None
    runtime: str = ""


def handler(pod: Pod, pod_events: Events | Missing, runtime_classes: RuntimeClasses | Missing) -> NeededHandler:
    """What the newest event says comes first: it is the node's own word, whatever was published before."""
    for seen in reversed(() if isinstance(pod_events, Missing) else pod_events):
        for runtime, text in _TEXTS:
            if found := text.search(seen.text):
                return NeededHandler(found["handler"], seen, runtime)
    return NeededHandler(_named(pod, runtime_classes))


def sandbox_image_lost(pod_events: Events | Missing) -> Event | None:
    """The newest event that says that the node cannot get its sandbox (pause) image."""
    known = () if isinstance(pod_events, Missing) else pod_events
    return next((e for e in reversed(known) if "failed to get sandbox image" in e.text), None)


def _named(pod: Pod, classes: RuntimeClasses | Missing) -> str:
    name = pod.spec.runtime_class_name
    if not name or isinstance(classes, Missing):
        return ""
    return next((c.handler for c in classes if c.name == name), "")
