"""A pod names a RuntimeClass that the cluster does not have.

The class is an object of the API; an operator or a toolkit's manifests make it. Without it no pod that names it is
admitted.

Why it matters: `pod rejected: RuntimeClass "nvidia" not found`; of a Deployment there is no pod, and an event of its
ReplicaSet says why.
Fix: make the class, or take `runtimeClassName` out where nodes inject devices by CDI.
"""

from collections.abc import Iterator

from lockgate.lint.cluster_facts import ClusterFacts
from lockgate.lint.manifests import Manifests
from lockgate.lint.rule import Problem, lint_rule
from lockgate.model.finding import Severity


@lint_rule(codes=("A03",), severity=Severity.ERROR)
def runtime_class_missing(manifests: Manifests, cluster: ClusterFacts) -> Iterator[Problem]:
    if cluster.runtime_classes is None:
        return
    known = cluster.runtime_classes | {document.name for document in manifests.of_kind("RuntimeClass")}
    for template in manifests.templates:
        named = template.spec.get("runtimeClassName")
        if named is not None and named.text() and named.text() not in known:
            yield Problem(
                key=template.key(),
                summary=f'{template.name} names RuntimeClass "{named.text()}"; the cluster has '
                f"{', '.join(sorted(known)) or 'none'}",
                marks=(template.mark(named, "not in the cluster"),),
                help="make the class, or take runtimeClassName out where nodes inject devices by CDI",
            )
