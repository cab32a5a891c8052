"""A pod that asks for a GPU does not tolerate the taints of the nodes that have it.

GPU nodes are often tainted so that other pods stay away; who wants a GPU must tolerate the taint. (Where the API
server runs ExtendedResourceToleration, it adds a toleration of the resource's own name by itself.)

Why it matters: the pod stays Pending with `untolerated taint`, although GPUs are free.
Fix: add the toleration that is shown.
"""

from collections.abc import Iterable, Iterator

from lockgate.lint.cluster_facts import ClusterFacts
from lockgate.lint.manifests import Manifests, PodTemplate
from lockgate.lint.rule import Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity
from lockgate.model.objects import Taint, Toleration
from lockgate.scheduling.taints import taint_text, toleration_for, untolerated_taints


@lint_rule(codes=("B01",), severity=Severity.WARNING)
def toleration_missing(manifests: Manifests, cluster: ClusterFacts) -> Iterator[Problem]:
    for template in manifests.templates:
        nodes = cluster.offering(frozenset(template.gpus)) if template.gpus and not template.is_operand else ()
        whole = all(container.is_whole for container in template.containers)
        own = tuple(_toleration(item) for item in template.spec.items("tolerations"))
        kept = [(node.name, left) for node in nodes if (left := _left(node.taints, own, template))]
        if nodes and whole and len(kept) == len(nodes):
            yield _problem(template, kept)


def _toleration(item: Item) -> Toleration:
    return Toleration(
        key=item.text("key"), operator=item.text("operator"), value=item.text("value"), effect=item.text("effect")
    )


def _left(taints: Iterable[Taint], own: tuple[Toleration, ...], template: PodTemplate) -> tuple[Taint, ...]:
    """The taints that keep it away; those of Kubernetes itself come and go with the node."""
    steady = [t for t in taints if not t.key.startswith("node.kubernetes.io/") and t.key not in template.gpus]
    return untolerated_taints(steady, own)


def _problem(template: PodTemplate, kept: list[tuple[str, tuple[Taint, ...]]]) -> Problem:
    node, taints = kept[0]
    every = f"and {len(kept) - 1} more" if len(kept) > 1 else "the only one"
    place = template.spec.get("tolerations") or template.spec
    return Problem(
        key=template.key(),
        summary=f"{template.name} tolerates none of the nodes that have its GPUs: {node} ({every}) has taint "
        f"{taint_text(taints[0])}",
        marks=(template.mark(place, "no toleration of it here"),),
        help=_help(toleration_for(taints[0])),
    )


def _help(toleration: Toleration) -> str:
    value = f", value: {toleration.value}" if toleration.value else ""
    return (
        f"tolerations: [{{key: {toleration.key}, operator: {toleration.operator}{value}, effect: {toleration.effect}}}]"
    )
