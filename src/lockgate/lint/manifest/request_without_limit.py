"""A container requests a GPU and has no limit of it.

For devices the limit is what counts, and the request follows from it; a request alone is refused by the API server
(`Limit must be set for non overcommitable resources`).

Why it matters: the API server refuses the Pod, Deployment or Job; a custom kind (PyTorchJob, a Workflow) is taken, and
its pods are refused where nobody looks.
Fix: write the amount under `limits`; the request may stay or go.
"""

from collections.abc import Iterator

from lockgate.lint.manifests import Container, Manifests, PodTemplate, amount_of
from lockgate.lint.rule import Fix, Path, Problem, lint_rule
from lockgate.lint.yaml_edits import with_child, with_pair
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity


@lint_rule(codes=("A04",), severity=Severity.ERROR)
def request_without_limit(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        for container in template.containers:
            limits = dict(container.resources("limits"))
            for name, item in container.resources("requests"):
                if name not in limits and container.is_whole:
                    yield _problem(manifests, template, container, name, item)


def _problem(manifests: Manifests, template: PodTemplate, container: Container, name: str, item: Item) -> Problem:
    return Problem(
        key=template.key(container.name, name),
        summary=f"{template.name}: container {container.name} requests {name} and does not limit it; the API server "
        "refuses the pod",
        marks=(template.mark(item, "needs the same amount under `limits`"),),
        help=f"resources: {{limits: {{{name}: {item.text()}}}}}",
        fixes=_fixes(manifests, container, name, item),
    )


def _fixes(manifests: Manifests, container: Container, name: str, item: Item) -> tuple[Fix, ...]:
    resources, limits = container.item.get("resources"), container.item.get("resources", "limits")
    if resources is None or not amount_of(item):
        return ()
    text = manifests.texts[container.file]
    new = (
        with_pair(text, limits, name, item.text())
        if limits is not None and limits.mapping is not None
        else with_child(text, resources, "limits", name, item.text())
        if limits is None
        else None
    )
    if new is None:
        return ()
    intends: tuple[Path, ...] = (manifests.place_of(resources, "limits", name),)
    return (Fix(f"limit {name} to {item.text()} too", {container.file: new}, intends),)
