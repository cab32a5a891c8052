"""Several containers of a pod ask for a GPU each, a sidecar among them: they get different ones.

GPUs are not shared between the containers of a pod. Two containers with a limit of 1 are a pod of 2 GPUs; a sidecar
that only watches the GPU of its neighbour sees another one.

Why it matters: the pod needs a node with that many free GPUs, and the sidecar measures an idle card.
Fix: give the GPU to the container that computes. What watches GPUs belongs on the node (`dcgm-exporter`).
"""

from collections.abc import Iterator

from lockgate.lint.manifests import Manifests, PodTemplate
from lockgate.lint.rule import Problem, lint_rule
from lockgate.model.finding import Severity


@lint_rule(severity=Severity.INFO)
def containers_add_up(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        for name, total in template.gpus.items():
            sidecars = [c for c in template.containers if c.sidecar and c.gpus.get(name)]
            others = [c for c in template.containers if not c.init and c.gpus.get(name)]
            if sidecars and others:
                yield _problem(template, name, total)


def _problem(template: PodTemplate, name: str, total: int) -> Problem:
    asking = [c for c in template.containers if c.gpus.get(name) and (c.sidecar or not c.init)]
    places = [item for c in asking for known, item in c.resources("limits") if known == name]
    return Problem(
        key=template.key(name),
        summary=f"{template.name}: containers {', '.join(c.name for c in asking)} get different GPUs, {total} of "
        f"{name} together; none sees another's",
        marks=tuple(template.mark(item, "a GPU of its own") for item in places),
        help="give the GPU to the container that computes",
    )
