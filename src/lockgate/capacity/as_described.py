"""Nodes as `kubectl describe` shows them: what is requested there is summed up, whoever requests it.

NVIDIA's must-gather and a person's paste hold such descriptions and no list of pods. The accounts of nodes need no more
than the sums; who waits, and what each namespace holds, stays unknown.
"""

import msgspec

from lockgate.kit.counted import counted
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import Node
from lockgate.model.told import ToldNode
from lockgate.scheduling.node_fit import Room
from lockgate.scheduling.requests import PODS, amounts
from lockgate.scheduling.scene import NodeView, Scene


def with_sums(seen: Scene) -> Scene:
    """The scene with the sums of the nodes that are described, whichever of their pods are known."""
    return msgspec.structs.replace(seen, nodes={name: _with_sum(view) for name, view in seen.nodes.items()})


def what_it_lacks(snapshot: Snapshot) -> str:
    """What is not known without the pods of all namespaces, and how to read it."""
    pods, nodes = snapshot.pods, () if isinstance(snapshot.known_nodes, Missing) else snapshot.known_nodes
    why = f": {pods.reason} (to read them: {pods.how})" if isinstance(pods, Missing) else ""
    summed = [is_summed_up(node) for node in nodes if is_gpu_node(node)]
    told = "; what is requested is the sum of each node's description" if summed else ""
    if unsummed := summed.count(False):
        told = f"; what is requested on {counted(unsummed, 'GPU node')} is unknown"
    return f"who holds and who waits, pod by pod{why}{told}"


def is_summed_up(node: Node) -> bool:
    """Whether its description tells what is requested there."""
    return isinstance(node, ToldNode) and bool(node.requested)


def _with_sum(view: NodeView) -> NodeView:
    node = view.node
    if not isinstance(node, ToldNode) or not node.requested:
        return view
    requested = {**amounts(node.requested), PODS: len(node.pods)}
    return msgspec.structs.replace(
        view, summed_up=Room(allocatable=amounts(node.status.allocatable), requested=requested)
    )
