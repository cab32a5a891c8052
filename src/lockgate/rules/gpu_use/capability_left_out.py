"""The pod left out a part of the driver that its program needs.

`NVIDIA_DRIVER_CAPABILITIES` says which parts of the driver the runtime puts into the container. It is set by hand and
lacks one: `utility` brings nvidia-smi and NVML, `compute` CUDA, `graphics` OpenGL and Vulkan, `video` the codecs.

Why it matters: the program says that there is no driver, on a node where everything is well.
How to tell: compare the variable with what is missing. Without the variable it is `utility,compute`.
Fix: add the part, or set the variable to `all`.
"""

from lockgate.diagnosis.absent_driver import absent_driver
from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.seen import listed, pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.words import Words
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod, PodSpec

# nvidia-container-toolkit, internal/config/image/capabilities.go: the default where the variable is not set.
_DEFAULT = ("utility", "compute")
_NAME = "NVIDIA_DRIVER_CAPABILITIES"


@rule(
    codes=("J11",),
    severity=Severity.ERROR,
    stages=(Stage.CREATING, Stage.RUNNING, Stage.FAILED),
    mutes=("gpu-use/not-injected",),
)
def capability_left_out(pod: Pod, spec: PodSpec | Missing, words: Words) -> Failed | Skipped | None:
    found = absent_driver(words)
    if found is None:
        return None
    if isinstance(spec, Missing):
        return Skipped(spec.reason, spec.how)
    part, said = found
    for container in spec.containers:
        value = next((e.value for e in container.env if e.name == _NAME), "")
        wanted = {word.strip() for word in value.split(",")} if value else set(_DEFAULT)
        by_hand = bool(value) or part not in _DEFAULT
        if (not said.container or said.container == container.name) and by_hand and not wanted & {part, "all"}:
            field = f"spec.containers[{container.name}].env[{_NAME}]"
            return Failed(
                about=pod_ref(pod),
                summary=f"Container {container.name} needs the driver's part {part}, and has {listed(sorted(wanted))}.",
                evidence=(said.evidence, Evidence(object=pod_ref(pod), field=field, value=value or "not set")),
                remedy=(
                    Remedy(f"Add {part} to {_NAME} of container {container.name}, or set it to all", "", Risk.LOW),
                ),
            )
    return None
