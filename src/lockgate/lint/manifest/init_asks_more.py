"""An init container asks for more GPUs than the containers that come after it.

A pod holds, for its whole life, the most that any of its phases asks for. Init containers do not give GPUs back; they
hand them on to the others.

Why it matters: the pod waits for a node with more free GPUs than it needs, and keeps them idle for as long as it runs.
Fix: let the init container ask for no more than the others together; a check of the driver needs one GPU.
"""

from collections.abc import Iterator

from lockgate.lint.manifests import Manifests, PodTemplate, requests_of
from lockgate.lint.rule import Problem, lint_rule
from lockgate.model.finding import Severity


@lint_rule(codes=("C10",), severity=Severity.WARNING)
def init_asks_more(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        staying = requests_of(tuple(c for c in template.containers if not c.init or c.sidecar))
        for name, held in template.gpus.items():
            if held > staying.get(name, 0) and staying:
                yield _problem(template, name, held, staying.get(name, 0))


def _problem(template: PodTemplate, name: str, held: int, used: int) -> Problem:
    ending = [c for c in template.containers if c.init and not c.sidecar]
    most = max(ending, key=lambda container: container.gpus.get(name, 0))
    asked = [item for known, item in most.resources("limits") if known == name]
    return Problem(
        key=template.key(name),
        summary=f"{template.name} holds {held} of {name} for its whole life, since init container "
        f"{most.name} asks for {most.gpus[name]}; the containers that stay use {used}",
        marks=tuple(template.mark(item, "is held to the end") for item in asked),
        help=f"ask for at most {max(used, 1)} in init containers",
    )
