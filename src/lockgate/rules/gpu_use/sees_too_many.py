"""The pod sees more GPUs than it asked for.

`NVIDIA_VISIBLE_DEVICES=all` in its spec or its image, or privileged mode, lets a container see GPUs that the kubelet
gave to others.

Why it matters: its program may take memory and time from another pod's GPU, and no arithmetic shows it.
How to tell: `nvidia-smi -L` in the pod lists more UUIDs than its limit.
Fix: take the variable and privileged mode away; set `accept-nvidia-visible-devices-envvar-when-unprivileged = false`
for the runtime, or inject by CDI alone, so that the image's own variable counts no longer.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref, some
from lockgate.diagnosis.stage import Stage
from lockgate.kit.counted import counted
from lockgate.model import names
from lockgate.model.facts import Logs, Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Container, Pod
from lockgate.scheduling.requests import amounts

_VISIBLE = "NVIDIA_VISIBLE_DEVICES"
_LISTED = re.compile(r"^\s*GPU \d+: .*\(UUID: (?P<uuid>GPU-[\w-]+)\)", re.MULTILINE)


@rule(codes=("J09",), severity=Severity.WARNING, stages=(Stage.RUNNING, Stage.FAILED, Stage.SUCCEEDED))
def sees_too_many(pod: Pod, logs: Logs | Missing) -> Failed | None:
    for container in pod.spec.containers:
        asked = _asked(container)
        listed = _listed_by(pod, container, logs)
        all_of_them = _env_all(pod, container)
        many = len(listed) > asked > 0
        if many or (asked and all_of_them):
            return _failed(pod, container, asked, listed if many else [], all_of_them)
    return None


def _failed(pod: Pod, container: Container, asked: int, listed: list[str], env: Evidence | None) -> Failed:
    sees = f"sees {counted(len(listed), 'GPU')}" if listed else f"is set to see every GPU ({_VISIBLE}=all)"
    log = f"log of {pod.name}/{container.name}"
    return Failed(
        about=pod_ref(pod),
        summary=f"Container {container.name} asked for {asked} and {sees}{_why(container, env)}.",
        evidence=some(
            Evidence(
                object=pod_ref(pod), field=f"spec.containers[{container.name}].resources.limits", value=str(asked)
            ),
            env,
            Evidence(object=log, field="GPUs listed", value=", ".join(listed)) if listed else None,
        ),
        remedy=(
            Remedy(
                f"Remove {_VISIBLE} and privileged mode from the pod: the device plugin sets what it may see",
                "",
                Risk.LOW,
            ),
            Remedy(
                "See whether the runtime ignores the variable of images"
                " (ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED=false in spec.toolkit.env)",
                "kubectl get clusterpolicy -o jsonpath='{.items[*].spec.toolkit.env}'",
                Risk.NONE,
            ),
        ),
    )


def _why(container: Container, env: Evidence | None) -> str:
    if container.security_context and container.security_context.privileged:
        return ": it is privileged"
    return "" if env else ": its image may set NVIDIA_VISIBLE_DEVICES=all"


def _asked(container: Container) -> int:
    """Whole GPUs; a MIG device or a shared slot does not tell how many GPUs are seen."""
    wanted = amounts({k: str(v) for k, v in container.resources.limits.items()})
    return sum(int(count) for name, count in wanted.items() if names.is_whole_gpu(name))


def _listed_by(pod: Pod, container: Container, logs: Logs | Missing) -> list[str]:
    for log in () if isinstance(logs, Missing) else logs:
        if (log.namespace, log.pod, log.container, log.previous) == (pod.namespace, pod.name, container.name, False):
            return list(dict.fromkeys(_LISTED.findall(log.text)))
    return []


def _env_all(pod: Pod, container: Container) -> Evidence | None:
    value = next((e.value for e in container.env if e.name == _VISIBLE), "")
    field = f"spec.containers[{container.name}].env[{_VISIBLE}]"
    return Evidence(object=pod_ref(pod), field=field, value=value) if value == "all" else None
