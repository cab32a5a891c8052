"""NodeResourcesFit: whether a node has enough left for what a pod asks, and what is short.

Headroom is `allocatable - requested`; requested sums the pods on the node that are not finished. A name that the node
does not advertise counts as allocatable 0. Source: kube-scheduler 1.37 plugins/noderesources/fit.go. Left out: what a
DeviceClass takes over (gate DRAExtendedResource), and the scheduler's own `ignoredResources` arguments.
"""

from collections.abc import Iterable, Mapping

import msgspec

from lockgate.model.names import is_gpu_resource
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.requests import CPU, MEMORY, PODS, STORAGE, Amounts, accounted_requests, amounts

_TERMINAL = frozenset(("Succeeded", "Failed"))
_FIRST = {CPU: 0, MEMORY: 1, STORAGE: 2}


class Shortage(msgspec.Struct, frozen=True, kw_only=True):
    """One resource that is short on a node, in the scheduler's units (millicores for cpu).

    `unresolvable` says that the request is more than the node could ever give: no eviction helps.
    """

    resource: str
    requested: int
    used: int
    allocatable: int
    unresolvable: bool

    @property
    def headroom(self) -> int:
        """What is left; negative where pods bypassed the scheduler or the node shrank under them."""
        return self.allocatable - self.used

    @property
    def reason(self) -> str:
        """The scheduler's words for it."""
        return "Too many pods" if self.resource == PODS else f"Insufficient {self.resource}"


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """A node's arithmetic: what it can give and what is spoken for, by resource; `pods` counts pods."""

    allocatable: Amounts
    requested: Amounts

    def headroom(self, resource: str) -> int:
        """Allocatable less requested; 0 for a name the node does not know, negative when overcommitted."""
        return self.allocatable.get(resource, 0) - self.requested.get(resource, 0)

    def plus(self, asked: Mapping[str, int]) -> "Room":
        """The room left after one more pod that asks this much."""
        requested = dict(self.requested)
        for name, count in asked.items():
            requested[name] = requested.get(name, 0) + count
        requested[PODS] = requested.get(PODS, 0) + 1
        return Room(allocatable=self.allocatable, requested=requested)


def is_terminal(pod: Pod) -> bool:
    """Whether a pod is finished: it holds nothing, for the scheduler and for the kubelet's devices alike."""
    return pod.status.phase in _TERMINAL


def holds_room(pod: Pod) -> bool:
    """Whether a pod counts against its node: it has one, and is not finished; a terminating pod still counts."""
    return bool(pod.spec.node_name) and not is_terminal(pod)


def offers_gpus(node: Node) -> bool:
    """Whether a node has GPUs of any kind to give, be they held or not."""
    return any(is_gpu_resource(name) and count for name, count in amounts(node.status.allocatable).items())


def room(node: Node, pods_here: Iterable[Pod]) -> Room:
    """The arithmetic of one node with the pods bound to it; finished ones among them do not count."""
    return room_beside(node, [accounted_requests(pod) for pod in pods_here if pod.status.phase not in _TERMINAL])


def room_beside(node: Node, taken: Iterable[Mapping[str, int]]) -> Room:
    """The arithmetic of one node with what its pods are known to take."""
    counted = list(taken)
    requested = {PODS: len(counted)}
    for asked in counted:
        for name, count in asked.items():
            requested[name] = requested.get(name, 0) + count
    return Room(allocatable=amounts(node.status.allocatable), requested=requested)


def pods_by_node(pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    """Pods that count against a node, grouped by its name."""
    grouped: dict[str, list[Pod]] = {}
    for pod in pods:  # plain: every pod of a cluster comes by here
        name = pod.spec.node_name
        if name and pod.status.phase not in _TERMINAL:
            if (here := grouped.get(name)) is None:
                here = grouped[name] = []
            here.append(pod)
    return grouped


def shortages(asked: Mapping[str, int], here: Room) -> tuple[Shortage, ...]:
    """What is short for one more pod that asks this much: pod limit, cpu, memory, storage, then devices by name."""
    short = [s for name in _order(asked) if asked[name] > 0 and (s := _shortage(name, asked[name], here))]
    too_many = _too_many_pods(here)
    return (too_many, *short) if too_many else tuple(short)


def fits(asked: Mapping[str, int], here: Room) -> bool:
    """Whether nothing is short."""
    return not shortages(asked, here)


def copies_that_fit(asked: Mapping[str, int], here: Room) -> int:
    """How many pods that each ask this much still fit on the node."""
    by_resource = (max(here.headroom(name), 0) // count for name, count in asked.items() if count > 0)
    return min((max(here.headroom(PODS), 0), *by_resource))


def _shortage(name: str, count: int, here: Room) -> Shortage | None:
    if count <= here.headroom(name):
        return None
    allocatable = here.allocatable.get(name, 0)
    return Shortage(
        resource=name,
        requested=count,
        used=here.requested.get(name, 0),
        allocatable=allocatable,
        unresolvable=count > allocatable,
    )


def _too_many_pods(here: Room) -> Shortage | None:
    allowed, present = here.allocatable.get(PODS, 0), here.requested.get(PODS, 0)
    if present + 1 <= allowed:
        return None
    return Shortage(resource=PODS, requested=1, used=present, allocatable=allowed, unresolvable=False)


def _order(asked: Mapping[str, int]) -> list[str]:
    return sorted(asked, key=lambda name: (_FIRST.get(name, 3), name))
