"""The image cannot be pulled.

Why it matters: the pod has its node and its GPU is set aside for it, so the GPU is held and idle until this is
mended.
How to tell: a container waits with ErrImagePull or ImagePullBackOff; the words of the registry are quoted.
Fix: correct the image's name or tag, or give the node access to the registry (secret, network, mirror).
"""

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import event, pod_ref, some
from lockgate.diagnosis.stage import Stage, statuses
from lockgate.model.facts import Events, Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import ContainerStatus, Pod

_REASONS = (
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "RegistryUnavailable",
    "SignatureValidationFailed",
)


@rule(
    codes=("F03", "F04"),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING,),
    gpu=False,
    asks_gpu=None,
    mutes=BROKEN_NODE,
)
def image(pod: Pod, pod_events: Events | Missing) -> Failed | Passed | None:
    bad = next((s for s in statuses(pod) if s.state.waiting and s.state.waiting.reason in _REASONS), None)
    if bad is None or bad.state.waiting is None:
        return Passed("no container waits for its image") if statuses(pod) else None
    waiting = bad.state.waiting
    events = () if isinstance(pod_events, Missing) else pod_events
    said = next((e for e in reversed(events) if e.reason == "Failed" and "image" in e.text.lower()), None)
    return Failed(
        about=pod_ref(pod),
        summary=f"Container {bad.name} waits for {_image(pod, bad)} on {pod.spec.node_name} ({waiting.reason}).",
        evidence=(
            Evidence(
                object=pod_ref(pod),
                field=f"status.containerStatuses[{bad.name}].state.waiting",
                value=waiting.reason,
                verbatim=waiting.message,
            ),
            *some(event(said) if said else None),
        ),
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
