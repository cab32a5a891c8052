"""CUDA says that the driver is too old, and usually there is none in the container.

A CUDA program that finds no driver library says the same as one that finds an old one: `CUDA driver version is
insufficient for CUDA runtime version`. The validator's image needs no new driver.

Why it matters: the CUDA step of the validator fails, so pods would find no GPU either.
How to tell: the driver's label on the node names a CUDA version that is new enough; then the library was not injected.
Fix: see whether the pod ran with NVIDIA's runtime: its RuntimeClass, the default runtime, and whether the toolkit
refuses `NVIDIA_VISIBLE_DEVICES` (`accept-nvidia-visible-devices-envvar-when-unprivileged`).
"""

import re

from lockgate.diagnosis.followers import AFTER_PLUGIN
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs, with_more
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Evidence, Remedy, Risk, Severity

# cudart's words (gpu-operator#415, #421, #389, #1947).
_TEXT = re.compile(r"CUDA driver version is insufficient for CUDA runtime version")
_VALIDATORS = ("operator-validator", "cuda-validator", "plugin-validator")
_LABELS = ("nvidia.com/cuda.driver-version.full", "nvidia.com/cuda.driver.major")


@rule(codes=("I05",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=AFTER_PLUGIN)
def cuda_not_injected(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        _find,
        lambda on, told: (
            "CUDA finds no usable driver library in the validator's container; "
            + (
                "the node's driver is known, so it was not injected."
                if told.more
                else "most likely it was not injected."
            )
        ),
        _remedies,
    )


def _find(on: NodeStack) -> Told | None:
    told = on.said(_TEXT, of=_VALIDATORS)
    labels = on.node.metadata.labels if on.node else {}
    label = next((k for k in _LABELS if k in labels), "")
    has = Evidence(object=f"node/{on.name}", field=f"metadata.labels[{label}]", value=labels.get(label, ""))
    return with_more(told, has if label else None)


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(
            "See which driver the node has, and which runtime the validator ran with",
            f"kubectl get node {on.name} -L {_LABELS[0]}; kubectl get runtimeclass",
            Risk.NONE,
        ),
        *read_logs(told),
    )
