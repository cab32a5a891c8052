"""A pod selects GPU nodes by a label that none of them has.

The labels of feature discovery change with the node: time-slicing appends `-SHARED` to `nvidia.com/gpu.product`, the
single MIG strategy `-MIG-1g.5gb`, and each product has its exact spelling.

Why it matters: the pod stays Pending with `node(s) didn't match Pod's node affinity/selector`, beside free GPUs.
Fix: select the value that the nodes have.
"""

import difflib
from collections.abc import Iterator

from lockgate.lint.cluster_facts import ClusterFacts
from lockgate.lint.manifests import Manifests, PodTemplate
from lockgate.lint.rule import Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity
from lockgate.model.names import GPU_PREFIX, NVIDIA_GROUP

_OF_NODES = (f"{NVIDIA_GROUP}/", "feature.node.kubernetes.io/")


@lint_rule(codes=("B02",), severity=Severity.WARNING)
def selector_matches_none(manifests: Manifests, cluster: ClusterFacts) -> Iterator[Problem]:
    for template in manifests.templates:
        selector = template.spec.get("nodeSelector")
        for name, item in selector.pairs() if selector else ():
            if not (name.startswith(_OF_NODES) and template.asks) or name.startswith(f"{GPU_PREFIX}.deploy."):
                continue
            values = sorted({node.labels[name] for node in cluster.nodes if name in node.labels})
            if cluster.nodes and item.text() not in values:
                yield _problem(template, name, item, values)


def _problem(template: PodTemplate, name: str, item: Item, values: list[str]) -> Problem:
    near = difflib.get_close_matches(item.text(), values, n=1)
    has = f"they have {', '.join(values[:4])}" if values else "none of them has the label"
    return Problem(
        key=template.key(name),
        summary=f"{template.name} selects nodes with {name}={item.text()}, and no GPU node is one: {has}",
        marks=(template.mark(item, "no GPU node has it", item.text()),),
        help=f"{name}: {near[0]}" if near else "kubectl get nodes -L " + name,
    )
