"""A pod asks for a GPU under a name that this cluster does not advertise, while its GPUs have another one.

MIG with the mixed strategy advertises `nvidia.com/mig-1g.5gb` and the like, renamed time-slicing
`nvidia.com/gpu.shared`.

Why it matters: the pod stays Pending with `Insufficient nvidia.com/gpu`, beside free GPUs.
Fix: ask for the name that the nodes advertise.
"""

from collections.abc import Iterator

from lockgate.lint.cluster_facts import ClusterFacts
from lockgate.lint.manifests import Manifests
from lockgate.lint.rule import Problem, lint_rule
from lockgate.model.finding import Severity


@lint_rule(codes=("C11", "C13"), severity=Severity.WARNING)
def resource_not_offered(manifests: Manifests, cluster: ClusterFacts) -> Iterator[Problem]:
    offered = sorted({name for node in cluster.nodes for name in node.capacity})
    for template in manifests.templates:
        for container in template.containers:
            for name, item in container.resources("limits"):
                if offered and container.gpus.get(name) and name not in offered:
                    yield Problem(
                        key=template.key(container.name, name),
                        summary=f"{template.name}: container {container.name} asks for {name}; the nodes advertise "
                        f"{', '.join(offered)}",
                        marks=(template.mark(item, "no node advertises it", name),),
                        help=f"ask for {offered[0]}" if len(offered) == 1 else "ask for one of these names",
                    )
