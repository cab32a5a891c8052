"""Gate 1 of the pod that is asked about: of one that has its node already that node alone is looked at.

A cluster may have thousands of pods that are not well, so what is on each node is sorted once for all of them.
"""

from collections.abc import Mapping

import msgspec

from lockgate.diagnosis.views.gate_one import GateOne, gate_one
from lockgate.model.facts import DeviceClasses, Missing, Namespaces, Nodes, Pods
from lockgate.model.objects import Node, Pod, PodSpec
from lockgate.scheduling.node_fit import pods_by_node


class Places(msgspec.Struct, frozen=True):
    """The nodes by name, and the pods that count against each; None where pods are not known."""

    nodes: Mapping[str, Node]
    pods: Mapping[str, list[Pod]] | None


def places(nodes: Nodes, pods: Pods | Missing) -> Places:
    """Sort nodes and pods once."""
    return Places({node.name: node for node in nodes}, None if isinstance(pods, Missing) else pods_by_node(pods))


def gate_of_pod(
    pod: Pod,
    spec: PodSpec,
    places: Places,
    nodes: Nodes,
    pods: Pods | Missing,
    namespaces: Namespaces | Missing,
    device_classes: DeviceClasses | Missing,
) -> GateOne:
    """Judge every GPU node, or the pod's own; its spec has to be known for that."""
    own = places.nodes.get(pod.spec.node_name)
    if own is None or places.pods is None:
        return gate_one(pod, nodes, pods, namespaces, device_classes)
    here = tuple(places.pods.get(own.name, ()))
    judged = gate_one(pod, (own,), here, namespaces, device_classes)
    return msgspec.structs.replace(judged, total_nodes=len(nodes))
