"""A pod asks for more GPUs than any node has.

A pod runs on one node. What is to use the GPUs of several is several pods: a Job with parallelism, a JobSet, an
MPIJob.

Why it matters: the pod stays Pending with `Insufficient nvidia.com/gpu` in an empty cluster too.
Fix: ask for no more than a node has, and spread the program over several pods.
"""

from collections.abc import Iterator

from lockgate.lint.cluster_facts import ClusterFacts
from lockgate.lint.manifests import Manifests, PodTemplate
from lockgate.lint.rule import Problem, lint_rule
from lockgate.model.finding import Severity


@lint_rule(codes=("C10",), severity=Severity.WARNING)
def more_than_a_node(manifests: Manifests, cluster: ClusterFacts) -> Iterator[Problem]:
    for template in manifests.templates:
        for name, count in template.gpus.items():
            most = max((node.capacity[name] for node in cluster.offering(frozenset((name,)))), default=0)
            if 0 < most < count:
                yield _problem(template, name, count, most)


def _problem(template: PodTemplate, name: str, count: int, most: int) -> Problem:
    places = [item for c in template.containers for known, item in c.resources("limits") if known == name]
    return Problem(
        key=template.key(name),
        summary=f"{template.name} asks for {count} of {name} in one pod; the largest node here has {most}",
        marks=tuple(template.mark(item, f"a node has at most {most}") for item in places),
        help=f"at most {most} in one pod, and several pods",
    )
