"""A container reaches for GPUs by being privileged.

A privileged container has every device of its node. It sees all GPUs, also those that other pods were given: what it
asked for is only what the scheduler counts. One that asks for none and has a GPU image is made to see them that way,
and sees nothing of them where the pod lands on a node without GPUs, or where the driver's libraries are not mounted.

Why it matters: frameworks take the first GPU, or all of them; another pod's job runs out of memory.
Fix: ask for `nvidia.com/gpu` under `resources.limits`, and take `privileged` out: a GPU needs no rights. For what does
need one, name it under `capabilities`.
"""

from collections.abc import Iterator

from lockgate.lint.images import parse_image
from lockgate.lint.manifests import Container, Manifests, PodTemplate
from lockgate.lint.rule import Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity
from lockgate.model.names import GPU


@lint_rule(codes=("J09",), severity=Severity.WARNING)
def privileged_gpu(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        for container in () if template.is_operand else template.containers:
            said = container.item.get("securityContext", "privileged")
            if said is None or said.value is not True:
                continue
            if container.asks:
                yield _sees_more(template, container, said)
            elif not template.asks and _has_gpu_image(container):
                yield _asks_for_none(template, container, said)


def _sees_more(template: PodTemplate, container: Container, said: Item) -> Problem:
    return Problem(
        key=template.key(container.name),
        summary=f"{template.name}: container {container.name} is privileged: it sees every GPU of its "
        "node, not only those that it has asked for",
        marks=(template.mark(said, "gives every device of the node"),),
        help="take privileged out; a GPU needs no rights",
    )


def _asks_for_none(template: PodTemplate, container: Container, said: Item) -> Problem:
    image = container.item.text("image")
    return Problem(
        key=template.key(container.name),
        summary=f"{template.name}: container {container.name} runs {image}, asks for no GPU and is privileged: on a "
        "GPU node it sees every GPU, also those of other pods, and nothing brings it to such a node",
        marks=(template.mark(said, "gives every device of the node, and asks for none"),),
        help=f"resources: {{limits: {{{GPU}: 1}}}}, and take privileged out; a GPU needs no rights",
    )


def _has_gpu_image(container: Container) -> bool:
    image = parse_image(container.item.text("image"))
    return image is not None and image.is_for_gpus
