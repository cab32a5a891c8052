"""What is on each node, sorted and added up once for all pods that are judged there: a cluster may have thousands.

Who holds a resource of a node, and what is left there, is the same for every pod that is not on it already.
"""

from collections.abc import Iterable
from functools import cached_property

from lockgate.diagnosis.gate_row import Holder
from lockgate.kit.by_identity import by_identity
from lockgate.model.facts import Missing, Nodes, Pods
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.names import is_gpu_resource
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.node_fit import Room, is_terminal, pods_by_node, room_beside
from lockgate.scheduling.requests import Amounts, accounted_requests

_Taken = tuple[Pod, Amounts]


class Places:
    """The nodes, and the pods that count against each."""

    def __init__(self, nodes: Nodes, pods: Pods | Missing) -> None:
        self.all, self.pods = nodes, pods
        self.nodes = {node.name: node for node in nodes}
        self._on = None if isinstance(pods, Missing) else pods_by_node(pods)
        self._added_up: dict[str, tuple[Room, list[_Taken]]] = {}  # by node; of what pods take, that of GPUs

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

    def leaving(self, node: str) -> list[Pod]:
        """The pods that are deleted, and count against a node as long as they are there."""
        return self._leaving.get(node, [])

    @cached_property
    def _leaving(self) -> dict[str, list[Pod]]:
        pods = () if isinstance(self.pods, Missing) else self.pods
        return pods_by_node([pod for pod in pods if pod.metadata.deletion_timestamp is not None])

    def on(self, node: str) -> list[Pod] | None:
        """The pods that count against a node; None where pods are not known."""
        return None if self._on is None else self._on.get(node, [])

    def beside(self, pod: Pod, node: Node, resource: str) -> tuple[Room, tuple[Holder, ...]]:
        """A node's arithmetic without a pod, and who else holds a resource there."""
        namespace, name = pod.namespace, pod.name
        here = self.on(node.name) or []
        there = pod.spec.node_name == node.name
        others = [p for p in here if p.metadata.name != name or p.metadata.namespace != namespace] if there else here
        if len(others) == len(here):
            return self.room(node), self.holders(node, resource)
        return _room(node, taken := _taken(others)), _holders(taken, resource)

    def room(self, node: Node) -> Room:
        """A node's arithmetic with all pods on it."""
        return self._sums(node)[0]

    def holders(self, node: Node, resource: str) -> tuple[Holder, ...]:
        """Who holds a GPU resource of a node."""
        return _holders(self._sums(node)[1], resource)

    def _sums(self, node: Node) -> tuple[Room, list[_Taken]]:
        found = self._added_up.get(node.name)
        if found is None:
            taken = _taken(self.on(node.name) or [])
            gpus = [each for each in taken if _has_gpus(each[1])]
            found = self._added_up[node.name] = _room(node, taken), gpus
        return found


def places(nodes: Nodes, pods: Pods | Missing) -> Places:
    """Sort nodes and pods once."""
    return Places(nodes, pods)


def holders(here: Iterable[Pod], resource: str) -> tuple[Holder, ...]:
    """The pods on a node that hold some of a resource, most first."""
    return _holders(_taken(p for p in here if not is_terminal(p)), resource)


def _taken(here: Iterable[Pod]) -> list[_Taken]:
    return [(pod, accounted_requests(pod)) for pod in here]


@by_identity  # pods of one workload take the same
def _has_gpus(asked: Amounts) -> bool:
    return any(map(is_gpu_resource, asked))


def _room(node: Node, taken: Iterable[_Taken]) -> Room:
    return room_beside(node, (asked for _, asked in taken))


def _holders(taken: Iterable[_Taken], resource: str) -> tuple[Holder, ...]:
    held = [_holder(pod, asked[resource]) for pod, asked in taken if asked.get(resource)]
    return tuple(sorted(held, key=lambda h: (-h.count, h.pod)))


def _holder(pod: Pod, count: int) -> Holder:
    return Holder(f"{pod.namespace}/{pod.name}", count, pod.metadata.deletion_timestamp is not None)
