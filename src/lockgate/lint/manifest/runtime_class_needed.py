"""A pod asks for a GPU and no RuntimeClass, and the nodes inject devices through NVIDIA's runtime only.

What the device plugin hands out reaches a container by CDI, or by NVIDIA's runtime. Where the default runtime is
`runc` and the plugin hands out no CDI names, only a pod with a RuntimeClass gets its devices.

Why it matters: the pod is scheduled, counted and started, and has no GPU: `nvidia-smi: executable file not found`.
Fix: `runtimeClassName: nvidia`, or `cdi.enabled: true` in the ClusterPolicy, which makes it needless.
"""

from collections.abc import Iterator

from lockgate.kit.counted import agreeing
from lockgate.lint.cluster_facts import ClusterFacts
from lockgate.lint.manifests import Manifests, PodTemplate
from lockgate.lint.rule import Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity


@lint_rule(codes=("J02",), severity=Severity.ERROR)
def runtime_class_needed(manifests: Manifests, cluster: ClusterFacts) -> Iterator[Problem]:
    for template in manifests.templates:
        nodes = cluster.offering(frozenset(template.gpus)) if template.gpus else ()
        without = nodes and all(node.injects is False for node in nodes)
        whole = all(container.is_whole for container in template.containers)
        if without and whole and not template.spec.text("runtimeClassName"):
            yield Problem(
                key=template.key(),
                summary=f"{template.name} asks for a GPU and names no RuntimeClass; on "
                f"{agreeing(len(nodes), 'the one GPU node', f'all {len(nodes)} GPU nodes')} only "
                "NVIDIA's runtime brings devices into a container, and it is not the default one",
                marks=tuple(template.mark(item, "counted, and not injected") for item in _asked(template)),
                help="runtimeClassName: nvidia",
            )


def _asked(template: PodTemplate) -> Iterator[Item]:
    for container in template.containers:
        yield from (item for _, item in container.resources("limits"))
