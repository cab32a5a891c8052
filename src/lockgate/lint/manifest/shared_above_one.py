"""A container asks for more than one slot of a GPU that is shared.

With time-slicing or MPS a node advertises each GPU several times. Two slots may be of one device: they give no second
GPU, no more memory and, with time-slicing, no larger share. A plugin with `failRequestsGreaterThanOne: true` refuses
the pod (`maximum request size for shared resources is 1; found 2`).

Why it matters: the pod ends as `UnexpectedAdmissionError`, or takes the place of another one and gains nothing.
Fix: ask for 1; for several GPUs, select nodes whose GPUs are not shared.
"""

from collections.abc import Iterator

from lockgate.lint.cluster_facts import ClusterFacts
from lockgate.lint.manifests import Manifests, PodTemplate
from lockgate.lint.rule import Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity

_RENAMED = ".shared"


@lint_rule(codes=("D06",), severity=Severity.WARNING)
def shared_above_one(manifests: Manifests) -> Iterator[Problem]:
    cluster = manifests.cluster
    for template in manifests.templates:
        for container in template.containers:
            for name, item in container.resources("limits"):
                if container.gpus.get(name, 0) > 1 and (name.endswith(_RENAMED) or _is_shared(cluster, name)):
                    yield _problem(template, container.name, name, item)


def _is_shared(cluster: ClusterFacts | None, name: str) -> bool:
    """Whether every node that has the resource shares it."""
    nodes = cluster.offering(frozenset((name,))) if cluster else ()
    return bool(nodes) and all(name in node.shared for node in nodes)


def _problem(template: PodTemplate, container: str, name: str, item: Item) -> Problem:
    return Problem(
        key=template.key(container, name),
        summary=f"{template.name}: container {container} asks for {item.text()} slots of {name}, which is shared: they "
        "are no more memory and perhaps one device, and a plugin may refuse them",
        marks=(template.mark(item, "slots of a shared GPU"),),
        help="ask for 1",
    )
