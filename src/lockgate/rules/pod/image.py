"""The image cannot be pulled.

Why it matters: the pod has its node and its GPU is set aside for it, so the GPU is held and idle until this is
mended.
How to tell: a container waits with ErrImagePull or ImagePullBackOff; the words of the registry are quoted.
Fix: correct the image's name or tag, or give the node access to the registry (secret, network, mirror).
"""

import datetime as dt
import re
from typing import Final

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import event, pod_ref, some
from lockgate.diagnosis.stage import Stage, statuses
from lockgate.model.facts import Events, Missing, Snapshot
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import ContainerStatus, Event, Pod

_REASONS = (
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "RegistryUnavailable",
    "SignatureValidationFailed",
)
_ON_ITS_WAY: Final = ("", "ContainerCreating", "PodInitializing")
# Source: kubernetes pkg/kubelet/images/image_manager.go and kuberuntime_container.go.
_NOT_PULLED: Final = re.compile(
    rf"^Failed to pull image|^Back-off pulling image|^Error: (?P<reason>{'|'.join(_REASONS)})\b"
)
_MOMENT: Final = dt.timedelta(minutes=1)


@rule(
    codes=("F03", "F04"),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING,),
    gpu=False,
    asks_gpu=None,
    mutes=BROKEN_NODE,
)
def image(pod: Pod, pod_events: Events | Missing, snapshot: Snapshot) -> Failed | Passed | None:
    events = () if isinstance(pod_events, Missing) else pod_events
    bad = next((s for s in statuses(pod) if s.state.waiting and s.state.waiting.reason in _REASONS), None)
    if bad is None or bad.state.waiting is None:
        told = _told_before(pod, events, snapshot.taken_at)
        if told is not None:
            return _failed(pod, told[0], told[2], event(told[1]))
        return Passed("no container waits for its image") if statuses(pod) else None
    waiting = bad.state.waiting
    said = next((e for e in reversed(events) if e.reason == "Failed" and "image" in e.text.lower()), None)
    field = f"status.containerStatuses[{bad.name}].state.waiting"
    status = Evidence(object=pod_ref(pod), field=field, value=waiting.reason, verbatim=waiting.message)
    return _failed(pod, bad, waiting.reason, status, *some(event(said) if said else None))


def _told_before(pod: Pod, events: Events, now: dt.datetime | None) -> tuple[ContainerStatus, Event, str] | None:
    """A container whose image an event says was not pulled a moment ago: its status follows a little later."""
    for status in (s for s in statuses(pod) if s.state.waiting and s.state.waiting.reason in _ON_ITS_WAY):
        own = [e for e in events if e.about.field_path.endswith(f"{{{status.name}}}")]
        newest = own[-1] if own else None
        found = _NOT_PULLED.search(newest.text) if newest else None
        if newest and found and now and newest.last_seen and now - newest.last_seen <= _MOMENT:
            return status, newest, found["reason"] or "ErrImagePull"
    return None


def _failed(pod: Pod, status: ContainerStatus, reason: str, *evidence: Evidence) -> Failed:
    return Failed(
        about=pod_ref(pod),
        summary=f"Container {status.name} waits for {_image(pod, status)} on {pod.spec.node_name} ({reason}).",
        evidence=evidence,
        remedy=(
            Remedy(
                "Correct the image's name, or let the node reach its registry",
                f"kubectl describe pod -n {pod.namespace} {pod.name}",
                Risk.NONE,
            ),
        ),
    )


def _image(pod: Pod, status: ContainerStatus) -> str:
    """By its status, else its spec: a runtime that never saw the image leaves the status empty."""
    spec = (c.image for c in (*pod.spec.init_containers, *pod.spec.containers) if c.name == status.name)
    name = status.image or next(spec, "")
    return f"image {name}" if name else "its image"
