"""The pod sees more GPUs than it asked for.

`NVIDIA_VISIBLE_DEVICES=all` in its spec or its image, or privileged mode, lets a container see GPUs that the kubelet
gave to others.

Why it matters: its program may take memory and time from another pod's GPU, and no arithmetic shows it.
How to tell: `nvidia-smi -L` in the pod lists more UUIDs than its limit. A pod without any limit that sets the variable
sees GPUs as well, where the runtime that makes its containers is NVIDIA's.
Fix: take the variable and privileged mode away; set `accept-nvidia-visible-devices-envvar-when-unprivileged = false`
for the runtime, or inject by CDI alone, so that the image's own variable counts no longer.
"""

from collections.abc import Iterable

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.by_hand import VISIBLE, ByHand, listed_by, variable
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.kit.counted import counted
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Container, Pod
from lockgate.scheduling.requests import amounts


@rule(codes=("J09",), severity=Severity.WARNING, stages=(Stage.RUNNING, Stage.FAILED, Stage.SUCCEEDED), asks_gpu=None)
def sees_too_many(pod: Pod, pod_logs: PodLogs | Missing, by_hand: ByHand | Missing | None) -> Failed | None:
    for container in pod.spec.containers:
        asked = _asked(container)
        listed = listed_by(pod, container, pod_logs)
        env = variable(pod, container)
        set_to_all = env if env and env.value == "all" else None
        many = len(listed) > asked > 0
        if many or (asked and set_to_all):
            return _failed(pod, container, asked, listed if many else (), set_to_all, None)
    if isinstance(by_hand, ByHand) and by_hand.sure:
        return _failed(pod, by_hand.container, 0, by_hand.listed, by_hand.variable, by_hand.runtime)
    return None


def _failed(
    pod: Pod,
    container: Container,
    asked: int,
    listed: Iterable[str],
    env: Evidence | None,
    runtime: Evidence | None,
) -> Failed:
    uuids = tuple(listed)
    value = env.value if env else ""
    sees = f"sees {counted(len(uuids), 'GPU')}" if uuids else f"is set to see {_which(value)} ({VISIBLE}={value})"
    log = f"log of {pod.name}/{container.name}"
    return Failed(
        about=pod_ref(pod),
        summary=f"Container {container.name} asked for {asked or 'none'} and {sees}{_why(container, env)}.",
        evidence=some(
            Evidence(
                object=pod_ref(pod),
                field=f"spec.containers[{container.name}].resources.limits",
                value=str(asked or "none"),
            ),
            env,
            runtime,
            Evidence(object=log, field="GPUs listed", value=", ".join(uuids)) if uuids else None,
        ),
        remedy=(*(() if asked else (_ask(container),)), *_REMEDIES),
    )


_REMEDIES = (
    Remedy(f"Remove {VISIBLE} and privileged mode from the pod: the device plugin sets what it may see", "", Risk.LOW),
    Remedy(
        "See whether the runtime ignores the variable of images"
        " (ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED=false in spec.toolkit.env)",
        "kubectl get clusterpolicy -o jsonpath='{.items[*].spec.toolkit.env}'",
        Risk.NONE,
    ),
)


def _ask(container: Container) -> Remedy:
    text = f"Ask for as many as it needs, in container {container.name}: resources: {{limits: {{{names.GPU}: 1}}}}"
    return Remedy(text, "", Risk.LOW)


def _which(value: str) -> str:
    return "every GPU" if value == "all" else "GPUs"


def _why(container: Container, env: Evidence | None) -> str:
    if container.security_context and container.security_context.privileged:
        return ": it is privileged"
    return "" if env else f": its image may set {VISIBLE}=all"


def _asked(container: Container) -> int:
    """Whole GPUs; a MIG device or a shared slot does not tell how many GPUs are seen."""
    wanted = amounts({k: str(v) for k, v in container.resources.limits.items()})
    return sum(int(count) for name, count in wanted.items() if names.is_whole_gpu(name))
