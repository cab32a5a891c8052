"""What is on each node, sorted and added up once for all pods that are judged there: a cluster may have thousands.

Who holds a resource of a node, and what is left there, is the same for every pod that is not on it already.
"""

from collections.abc import Iterable
from functools import cached_property

from lockgate.diagnosis.gate_row import Holder
from lockgate.model.facts import Missing, Nodes, Pods
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.node_fit import Room, is_terminal, pods_by_node, room_beside
from lockgate.scheduling.requests import Amounts, accounted_requests


class Places:
    """The nodes, and the pods that count against each."""

    def __init__(self, nodes: Nodes, pods: Pods | Missing) -> None:
        self.all, self.pods = nodes, pods
        self.nodes = {node.name: node for node in nodes}
        self._on = None if isinstance(pods, Missing) else pods_by_node(pods)
        self._summed_up: dict[tuple[int, str], tuple[Room, tuple[Holder, ...]]] = {}  # by node and resource

    @cached_property
    def with_gpus(self) -> Nodes:
        """The nodes that have GPUs."""
        return tuple(filter(is_gpu_node, self.all))

    @cached_property
    def vacant(self) -> "Places":
        """The same nodes without any pod."""
        return Places(self.all, ())

    @cached_property
    def any_wishes(self) -> bool:
        """Whether a pod has wishes about others, so that one has to be asked about the other."""
        return not isinstance(self.pods, Missing) and any(pod.spec.affinity for pod in self.pods)

    def on(self, node: str) -> list[Pod] | None:
        """The pods that count against a node; None where pods are not known."""
        return None if self._on is None else self._on.get(node, [])

    def beside(self, pod: Pod, node: Node, resource: str) -> tuple[Room, tuple[Holder, ...]]:
        """A node's arithmetic without a pod, and who else holds a resource there."""
        namespace, name = pod.namespace, pod.name
        here = self.on(node.name) or []
        others = [p for p in here if p.metadata.name != name or p.metadata.namespace != namespace]
        return self.summed_up(node, resource) if len(others) == len(here) else _summed_up(node, others, resource)

    def summed_up(self, node: Node, resource: str) -> tuple[Room, tuple[Holder, ...]]:
        """A node's arithmetic with all pods on it, and who holds a resource there."""
        found = self._summed_up.get((id(node), resource))
        if found is None:
            found = self._summed_up[id(node), resource] = _summed_up(node, self.on(node.name) or [], resource)
        return found


def places(nodes: Nodes, pods: Pods | Missing) -> Places:
    """Sort nodes and pods once."""
    return Places(nodes, pods)


def holders(here: Iterable[Pod], resource: str) -> tuple[Holder, ...]:
    """The pods on a node that hold some of a resource, most first."""
    return _holders([(p, accounted_requests(p)) for p in here if not is_terminal(p)], resource)


def _summed_up(node: Node, here: Iterable[Pod], resource: str) -> tuple[Room, tuple[Holder, ...]]:
    taken = [(pod, accounted_requests(pod)) for pod in here]
    return room_beside(node, (asked for _, asked in taken)), _holders(taken, resource)


def _holders(taken: Iterable[tuple[Pod, Amounts]], resource: str) -> tuple[Holder, ...]:
    held = [_holder(pod, asked[resource]) for pod, asked in taken if asked.get(resource)]
    return tuple(sorted(held, key=lambda h: (-h.count, h.pod)))


def _holder(pod: Pod, count: int) -> Holder:
    return Holder(f"{pod.namespace}/{pod.name}", count, pod.metadata.deletion_timestamp is not None)
