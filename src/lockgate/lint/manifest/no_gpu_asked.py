"""A pod is made for a GPU, and asks for none.

A runtime class prepares a container for GPUs and gives it none; a program that works on the node itself finds nothing
in a pod that has not asked. What is asked for stands under `resources.limits`.

Why it matters: the pod is placed anywhere, runs, and only its program finds out: `nvidia-smi: not found`, `no
CUDA-capable device`.
Fix: add `nvidia.com/gpu: 1` under `resources.limits` of the container that needs it.
"""

import re
from collections.abc import Iterator
from typing import Final

from lockgate.lint.manifests import Container, Manifests, PodTemplate
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity
from lockgate.model.names import GPU, HANDLERS

_PROGRAM: Final = re.compile(r"(?:^|[\s/;&|(])nvidia-smi\b")
_VISIBLE: Final = "NVIDIA_VISIBLE_DEVICES"


@lint_rule(codes=("J01",), severity=Severity.WARNING)
def no_gpu_asked(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        if template.asks or template.is_operand or not all(c.is_whole for c in template.containers):
            continue
        marks = tuple(_hints(template))
        if marks:
            yield Problem(
                key=template.key(),
                within=template.key(),
                summary=f"{template.name} is made for a GPU, and no container has {GPU} in its limits: it gets none",
                marks=marks,
                help=f"resources: {{limits: {{{GPU}: 1}}}} of the container that needs it",
            )


def _hints(template: PodTemplate) -> Iterator[Mark]:
    runtime = template.spec.get("runtimeClassName")
    # Some programs need the driver's libraries and no device; they say so with the variable.
    if runtime is not None and runtime.text() in HANDLERS and not any(c.env(_VISIBLE) for c in template.containers):
        yield template.mark(runtime, "prepares for GPUs, and gives none")
    for container in template.containers:
        word = _program(container)
        if word is not None:
            yield template.mark(word, "looks for a GPU")


def _program(container: Container) -> Item | None:
    words = (word for part in ("command", "args") for word in container.item.items(part))
    return next((word for word in words if _PROGRAM.search(word.text())), None)
