"""The node that the pod is on, as the API has it, and what its labels say."""

from lockgate.diagnosis.views.places import Places
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence
from lockgate.model.objects import Labels, Node, Pod
from lockgate.model.told import UNSEEN_NODE


def own_node(pod: Pod, places: Places) -> Node | Missing:
    """The pod's node; Missing where it has none, or its node is not among the facts."""
    found = places.nodes.get(pod.spec.node_name)
    named = pod.spec.node_name not in ("", UNSEEN_NODE)
    return found or Missing(f"node {pod.spec.node_name if named else 'of the pod'} is not among the facts")


def labels_of(node: Node | Missing) -> Labels:
    """Its labels; none of a node that is not known."""
    return {} if isinstance(node, Missing) else node.metadata.labels


def label(node: Node | Missing, key: str, note: str = "") -> Evidence | None:
    """One of its labels as evidence; None where it has no such label."""
    value = labels_of(node).get(key)
    if value is None or isinstance(node, Missing):
        return None
    return Evidence(object=f"node/{node.name}", field=f"metadata.labels[{key}]", value=value, note=note)
