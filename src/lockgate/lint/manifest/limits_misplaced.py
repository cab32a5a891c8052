"""A GPU is asked for in a place where nobody reads it.

GPUs belong under `resources.limits` of a container. `limits` right under the container is an unknown field, which the
API server drops (with a warning, or an error under strict validation); `resources` of the pod as a whole may hold CPU,
memory and huge pages only.

Why it matters: the pod runs without a GPU, or is refused, though its file has the number in it.
Fix: put the amount under `resources.limits` of the container that needs it.
"""

from collections.abc import Iterator

from lockgate.lint.manifests import Manifests, PodTemplate
from lockgate.lint.rule import Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity
from lockgate.model.names import is_gpu_resource

_PARTS = ("limits", "requests")
_HELP = "resources: {limits: {nvidia.com/gpu: 1}} of the container that needs it"


@lint_rule(codes=("J01",), severity=Severity.ERROR, mutes=("manifest/no-gpu-asked",))
def limits_misplaced(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        for container in template.containers:
            for name, item in _gpus(container.item):
                yield _problem(template, item, f"container {container.name}", name, "an unknown field there")
        pod = template.spec.get("resources")
        for name, item in _gpus(pod) if pod else ():
            yield _problem(
                template, item, "the pod as a whole", name, "only CPU, memory and huge pages may stand there"
            )


def _gpus(item: Item) -> Iterator[tuple[str, Item]]:
    for part in _PARTS:
        found = item.get(part)
        yield from ((name, each) for name, each in (found.pairs() if found else ()) if is_gpu_resource(name))


def _problem(template: PodTemplate, item: Item, where: str, name: str, why: str) -> Problem:
    return Problem(
        key=template.key(where, name),
        within=template.key(),
        summary=f"{template.name}: {name} stands under {where} itself, where it counts for nothing ({why})",
        marks=(template.mark(item, why),),
        help=_HELP,
    )
