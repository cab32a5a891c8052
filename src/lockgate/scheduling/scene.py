"""A cluster at one moment as the scheduler looks at it: each node with the pods that count against it."""

from collections.abc import Iterable, Mapping
from functools import cached_property

import msgspec

from lockgate.model.objects import (
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    RuntimeClass,
    StorageClass,
)
from lockgate.scheduling.budgets import Budgets, by_namespace
from lockgate.scheduling.node_fit import Room, pods_by_node, room
from lockgate.scheduling.requests import pod_requests

PodKey = tuple[str, str]


class NodeView(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One node, and the pods on it that are not finished; `summed_up` is its arithmetic, where that is known already.

    It is added up where somebody asks: of most nodes of a cluster nobody does.
    """

    node: Node
    pods: tuple[Pod, ...]
    summed_up: Room | None = None

    @property
    def name(self) -> str:
        return self.node.name

    @cached_property
    def room(self) -> Room:
        """Its arithmetic with these pods."""
        return self.summed_up or room(self.node, self.pods)

    @cached_property
    def loners(self) -> tuple[Pod, ...]:
        """The pods with anti-affinity."""
        return tuple(filter(_is_loner, self.pods))


class Storage(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of volumes: claims by namespace and name, volumes and classes by name (None when not read)."""

    claims: Mapping[PodKey, PersistentVolumeClaim] = {}
    volumes: Mapping[str, PersistentVolume] | None = {}
    classes: Mapping[str, StorageClass] | None = {}


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """All nodes by name. `namespaces` holds their labels.

    `storage`, `budgets`, `priorities` and `runtimes` (classes by name) are None when they are not known.
    """

    nodes: Mapping[str, NodeView]
    namespaces: Mapping[str, Mapping[str, str]] = {}
    storage: Storage | None = None
    budgets: Budgets | None = None
    priorities: Mapping[str, PriorityClass] | None = None
    runtimes: Mapping[str, RuntimeClass] | None = None

    def with_node(self, view: NodeView) -> "Scene":
        """The scene with one node replaced or added."""
        return msgspec.structs.replace(self, nodes={**self.nodes, view.name: view})

    def with_pod(self, pod: Pod, node: str) -> "Scene":
        """The scene after the pod is bound to a node that is in it."""
        return self.with_node(view_with_pod(self.nodes[node], pod))

    def without_pods(self, node: str, gone: Iterable[PodKey]) -> "Scene":
        """The scene after these pods (namespace, name) have left a node."""
        keys = frozenset(gone)
        view = self.nodes[node]
        return self.with_node(node_view(view.node, [pod for pod in view.pods if key(pod) not in keys]))

    def only(self, name: str) -> "Scene":
        """The scene with one node alone."""
        return msgspec.structs.replace(self, nodes={name: self.nodes[name]})


def scene(
    nodes: Iterable[Node],
    pods: Iterable[Pod],
    namespaces: Iterable[Namespace] = (),
    storage: Storage | None = None,
    budgets: Iterable[PodDisruptionBudget] | None = None,
    priorities: Iterable[PriorityClass] | None = None,
    runtimes: Iterable[RuntimeClass] | None = None,
) -> Scene:
    """Put a moment together; pods that have no node, or are finished, are left out."""
    by_node = pods_by_node(pods)
    return Scene(
        nodes={node.name: node_view(node, by_node.get(node.name, ())) for node in nodes},
        namespaces={namespace.name: namespace.metadata.labels for namespace in namespaces},
        storage=storage,
        budgets=None if budgets is None else by_namespace(budgets),
        priorities=None if priorities is None else {each.name: each for each in priorities},
        runtimes=None if runtimes is None else {each.name: each for each in runtimes},
    )


def storage(
    claims: Iterable[PersistentVolumeClaim],
    volumes: Iterable[PersistentVolume] | None = (),
    classes: Iterable[StorageClass] | None = (),
) -> Storage:
    """What is known of volumes, by name; None for volumes or classes that were not read."""
    return Storage(
        claims={(claim.namespace, claim.name): claim for claim in claims},
        volumes=None if volumes is None else {volume.name: volume for volume in volumes},
        classes=None if classes is None else {each.name: each for each in classes},
    )


def node_view(node: Node, pods_here: Iterable[Pod]) -> NodeView:
    """One node with the pods on it."""
    return NodeView(node=node, pods=tuple(pods_here))


def view_with_pod(view: NodeView, pod: Pod) -> NodeView:
    """The node after one more pod is bound to it."""
    bound = msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=view.name))
    summed_up = view.summed_up and view.summed_up.plus(pod_requests(pod))
    return NodeView(node=view.node, pods=(*view.pods, bound), summed_up=summed_up)


def _is_loner(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    return affinity is not None and affinity.pod_anti_affinity is not None


def key(pod: Pod) -> PodKey:
    """What names a pod in the cluster: namespace and name."""
    return pod.namespace, pod.name
