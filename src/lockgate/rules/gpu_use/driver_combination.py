"""The image's CUDA driver library does not go with the node's driver (errors 803, 804).

The image brings a `libcuda.so` of its own (a CUDA compatibility package, or one copied into it), and it is found before
the one that the runtime injects.

Why it matters: the program fails on this node and works on others, with the same image.
How to tell: 803 says that library and kernel module do not go together; 804 that forward compatibility was tried on a
GPU that does not support it (it is for data centre GPUs only).
Fix: take the compatibility libraries out of the image (`/usr/local/cuda/compat`, LD_LIBRARY_PATH), use an image for the
driver's CUDA version, or update the driver.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.words import Words
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod

# cudaErrorSystemDriverMismatch and cudaErrorCompatNotSupportedOnDevice, strings of libcudart 12.
_MISMATCH = re.compile(r"system has unsupported display driver / cuda driver combination|cudaErrorSystemDriverMismatch")
_COMPAT = re.compile(r"forward compatibility was attempted on non supported HW|cudaErrorCompatNotSupportedOnDevice")
_PATH = "LD_LIBRARY_PATH"


@rule(codes=("J07",), severity=Severity.ERROR, stages=(Stage.RUNNING, Stage.FAILED))
def driver_combination(pod: Pod, words: Words) -> Failed | None:
    said = words.find(_MISMATCH, _COMPAT)
    if said is None:
        return None
    compat = _COMPAT.search(said.evidence.verbatim) is not None
    why = "forward compatibility is not for its GPU (804)" if compat else "it does not go with the node's driver (803)"
    return Failed(
        about=pod_ref(pod),
        summary=f"The image brings a CUDA driver library of its own, and {why}.",
        evidence=some(said.evidence, _library_path(pod)),
        remedy=(
            Remedy(
                "See which libcuda the program finds",
                f"kubectl exec -n {pod.namespace} {pod.name} -- sh -c 'ldconfig -p | grep libcuda'",
                Risk.NONE,
            ),
            Remedy("Use an image without it, for a CUDA version that the driver supports", "", Risk.LOW),
        ),
    )


def _library_path(pod: Pod) -> Evidence | None:
    for container in pod.spec.containers:
        for each in container.env:
            if each.name == _PATH and "compat" in each.value:
                field = f"spec.containers[{container.name}].env[{_PATH}]"
                return Evidence(
                    object=pod_ref(pod), field=field, value=each.value, note="finds the image's own libcuda"
                )
    return None
