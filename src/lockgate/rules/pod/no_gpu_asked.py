"""The pod asks for no GPU, so it has none.

No container has `nvidia.com/gpu` (or a MIG device) in its limits. It was placed without regard to GPUs, and the
kubelet gave it none.

Why it matters: it runs, on a GPU node perhaps, and only the program finds out. A runtime class, a device variable, or
privileged mode is no request: what such a pod sees belongs to others.
How to tell: no container has a GPU resource in its limits, and the pod has neither a claim, nor a share that KAI gives
(annotation `gpu-fraction` or `gpu-memory`), nor devices of another maker.
Fix: add the limit to the container that needs the GPU; a whole number, and a request is not needed.
"""

import re

from lockgate.diagnosis.other_gpus import other_gpus
from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import listed, pod_ref
from lockgate.diagnosis.stage import Stage, statuses
from lockgate.diagnosis.views.by_hand import VISIBLE, ByHand, reaches_all
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Container, Pod

_NO_DRIVER = re.compile(
    r"nvidia-smi[\"':]* ?:? ?(?:executable file )?not found|libcuda\.so|libnvidia-ml\.so|CUDA driver|NVML"
    r"|no CUDA-capable device|Found no NVIDIA driver|No CUDA GPUs are available|communicate with the NVIDIA driver"
)
_PROGRAMS = re.compile(r"nvidia-smi|\bcuda|torch|vllm|triton", re.IGNORECASE)
_IMAGES = re.compile(r"cuda|tensorflow|pytorch|vllm|triton|-gpu", re.IGNORECASE)
_OPEN = f" Whether {VISIBLE} gives it GPUs of others depends on the runtime of its node, which is not known."


@rule(
    codes=("J01",),
    severity=Severity.ERROR,
    stages=(Stage.RUNNING, Stage.FAILED, Stage.SUCCEEDED),
    asks_gpu=False,
)
def no_gpu_asked(pod: Pod, pod_logs: PodLogs | Missing, by_hand: ByHand | Missing | None) -> Failed | Passed | None:
    if reaches_all(pod):
        return None
    if other := other_gpus(pod):
        return Passed(f"it has {other}")
    set_ = by_hand if isinstance(by_hand, ByHand) else None
    if set_ is not None and set_.sure:
        return None
    strong = [*_said(pod, pod_logs), *_spec_hints(pod)]
    wants = [*strong, *_weak_hints(pod)]
    where = f"it runs on {pod.spec.node_name}" if pod.spec.node_name else "it has no node"
    containers = listed(c.name for c in pod.spec.containers) or "unknown"
    seems = f" It seems to want one: {wants[0].note}." if wants else ""
    container = pod.spec.containers[0].name if pod.spec.containers else "CONTAINER"
    return Failed(
        about=pod_ref(pod),
        title="The pod asks for no GPU" if set_ else "",
        severity=None if strong and not set_ else Severity.WARNING if wants else Severity.INFO,
        summary=f"No container ({containers}) has {names.GPU} in its limits; {where}.{seems}{_OPEN if set_ else ''}",
        evidence=(*(_limits(pod, c) for c in pod.spec.containers), *wants),
        remedy=(
            Remedy(
                f"Add to container {container}: resources: {{limits: {{{names.GPU}: 1}}}}, and make the pod anew",
                "",
                Risk.LOW,
            ),
        ),
    )


def _limits(pod: Pod, container: Container) -> Evidence:
    limits = ", ".join(f"{k}: {v}" for k, v in sorted(container.resources.limits.items()))
    return Evidence(
        object=pod_ref(pod), field=f"spec.containers[{container.name}].resources.limits", value=limits or "none"
    )


def _said(pod: Pod, logs: PodLogs | Missing) -> list[Evidence]:
    """What its containers say about a missing driver: their last message, or their log."""
    found = []
    for status in statuses(pod):
        for state in (status.state.terminated, status.last_state.terminated, status.state.waiting):
            if state and _NO_DRIVER.search(state.message):
                field = f"status.containerStatuses[{status.name}]"
                found.append(
                    Evidence(
                        object=pod_ref(pod), field=field, verbatim=state.message, note="its program looks for a GPU"
                    )
                )
    for log in () if isinstance(logs, Missing) else logs.of(pod.namespace, pod.name):
        lines = [line.strip() for line in log.text.splitlines() if _NO_DRIVER.search(line)]
        found += [
            Evidence(object=f"log of {pod.name}/{log.container}", verbatim=line, note="its program looks for a GPU")
            for line in lines[-1:]
        ]
    return found


def _spec_hints(pod: Pod) -> list[Evidence]:
    """What in the spec says that a GPU was meant."""
    place, found = pod_ref(pod), []
    if pod.spec.runtime_class_name in names.HANDLERS:
        value = pod.spec.runtime_class_name
        note = f"runtimeClassName is {value}, which is no request"
        found.append(Evidence(object=place, field="spec.runtimeClassName", value=value, note=note))
    for key, value in sorted(pod.spec.node_selector.items()):
        if key.startswith("nvidia.com/"):
            note = "it selects GPU nodes"
            found.append(Evidence(object=place, field=f"spec.nodeSelector[{key}]", value=value, note=note))
    for container in pod.spec.containers:
        found += _container_hints(place, container)
    return found


def _container_hints(place: str, container: Container) -> list[Evidence]:
    at, found = f"spec.containers[{container.name}]", []
    visible = next((e.value for e in container.env if e.name == VISIBLE), "")
    if visible and visible not in ("void", "none"):
        note = f"{VISIBLE} is set by hand"
        found.append(Evidence(object=place, field=f"{at}.env[{VISIBLE}]", value=visible, note=note))
    command = " ".join((*container.command, *container.args))
    if _PROGRAMS.search(command):
        note = "its command looks for a GPU"
        found.append(Evidence(object=place, field=f"{at}.command", value=command[:200], note=note))
    return found


def _weak_hints(pod: Pod) -> list[Evidence]:
    """What may mean that a GPU was meant."""
    place, found = pod_ref(pod), []
    if any(t.key.startswith("nvidia.com/") for t in pod.spec.tolerations):
        note = "it tolerates the taint of GPU nodes"
        found.append(Evidence(object=place, field="spec.tolerations", value=names.GPU, note=note))
    for container in (c for c in pod.spec.containers if _IMAGES.search(c.image)):
        field, note = f"spec.containers[{container.name}].image", "its image is one for GPUs"
        found.append(Evidence(object=place, field=field, value=container.image, note=note))
    return found
