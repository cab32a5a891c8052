"""A container asks for a part of a GPU, or for an amount that is no number.

`nvidia.com/gpu` counts whole devices. `0.5` is no half of a card: the API server refuses the pod (`must be an
integer`). What shares a card is set up on the node, and each pod then asks for 1.

Why it matters: the API server refuses the Pod, Deployment or Job; a custom kind (PyTorchJob, a Workflow) is taken, and
its pods are refused where nobody looks.
Fix: ask for a whole number; for a part of a GPU use MIG (`nvidia.com/mig-1g.5gb: 1`) or time-slicing on the node.
"""

from collections.abc import Iterator

from lockgate.kit.quantity import parse_quantity
from lockgate.lint.manifests import Container, Manifests, PodTemplate, is_filled_in_later
from lockgate.lint.rule import Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity
from lockgate.scheduling.amounts import is_count


@lint_rule(codes=("A06",), severity=Severity.ERROR)
def gpu_not_whole(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        for container in template.containers:
            bad = [(name, item) for name, item in _amounts(container) if not _is_whole(item)]
            if bad:
                yield _problem(template, container, bad)


def _amounts(container: Container) -> Iterator[tuple[str, Item]]:
    for part in ("limits", "requests"):
        yield from container.resources(part)


def _is_whole(item: Item) -> bool:
    if is_filled_in_later(item):
        return True
    try:
        return is_count(parse_quantity(item.text()))
    except ValueError:
        return False


def _problem(template: PodTemplate, container: Container, bad: list[tuple[str, Item]]) -> Problem:
    name, item = bad[0]
    return Problem(
        key=template.key(container.name),
        summary=f"{template.name}: container {container.name} asks for {item.text() or 'nothing'} of {name}; GPUs are "
        "counted whole, and the API server refuses the pod",
        marks=tuple(template.mark(one, "must be a whole number") for _, one in bad),
        help="ask for 1; what shares a GPU is set up on the node (MIG, time-slicing, MPS)",
    )
