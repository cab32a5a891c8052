"""Gate 1 for one pod: what stands in its way on each GPU node, and the arithmetic that says so.

The scheduler writes the same `Insufficient nvidia.com/gpu` for a dozen causes, so each node is judged from its own
numbers: capacity, allocatable, and what the pods on it request. Several things may stand in the way on one node; the
cause is what stands on the *nearest* nodes: of those that the pod selects, the ones with the fewest obstacles.
"""

from collections.abc import Callable
from functools import cached_property

import msgspec

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.views.places import Places
from lockgate.kit.by_identity import by_two
from lockgate.model import names
from lockgate.model.facts import DeviceClasses, Missing, Namespaces, Nodes, Pods
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import Container, Node, Pod, PodSpec, Taint
from lockgate.model.told import ToldNode
from lockgate.scheduling.filters import checks
from lockgate.scheduling.node_fit import Room, Shortage, shortages
from lockgate.scheduling.ports import host_ports
from lockgate.scheduling.requests import PODS, Amounts, accounted_requests, amounts, defaulted_requests
from lockgate.scheduling.scene import scene
from lockgate.scheduling.selectors import node_misses
from lockgate.scheduling.taints import is_cordoned_for, untolerated_taints

# Filters that look at other pods on the node.
_PLACEMENT = frozenset(("NodePorts", "PodTopologySpread", "InterPodAffinity"))


class GateOne(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Gate 1 for one pod: the asked GPU resource, how many, and each GPU node in the order of names."""

    resource: str
    asked: int
    rows: tuple[GateRow, ...]
    total_nodes: int

    @cached_property
    def candidates(self) -> tuple[GateRow, ...]:
        """The nodes that the pod itself selects and that serve containers; all of them when there is none."""
        selected = tuple(row for row in self.rows if Obstacle.SELECTOR not in row.obstacles)
        serving = tuple(row for row in selected if not row.for_machines)
        return serving or selected or self.rows

    @cached_property
    def nearest(self) -> tuple[GateRow, ...]:
        """The candidates with the fewest obstacles; they are what a person should look at first."""
        fewest = min((len(row.obstacles) for row in self.candidates), default=0)
        return tuple(row for row in self.candidates if len(row.obstacles) == fewest)

    def nearest_with(self, *obstacles: Obstacle) -> tuple[GateRow, ...]:
        """Those of the nearest nodes on which one of these stands in the way."""
        if self._in_the_way.isdisjoint(obstacles):
            return ()
        return tuple(row for row in self.nearest if any(o in obstacles for o in row.obstacles))

    @cached_property
    def _in_the_way(self) -> frozenset[Obstacle]:
        """What stands in the way on any of the nearest nodes."""
        return frozenset(o for row in self.nearest for o in row.obstacles)

    @property
    def open_rows(self) -> tuple[GateRow, ...]:
        """Nodes on which nothing stands in the way."""
        return tuple(row for row in self.rows if not row.obstacles)


def gate_one(
    pod: Pod,
    nodes: Nodes,
    pods: Pods | Missing,
    namespaces: Namespaces | Missing,
    device_classes: DeviceClasses | Missing = (),
) -> GateOne:
    """Judge every GPU node for a pod that asks for a GPU; a pod pinned with nodeName is judged on that node alone.

    A resource that a DeviceClass stands for is allocated by claims on nodes that do not advertise it, and HAMi counts
    its amounts itself: what nodes say of these keeps no pod away.
    """
    return gate_at(Places(nodes, pods), pod, namespaces, device_classes)


def gate_at(
    places: Places, pod: Pod, namespaces: Namespaces | Missing = (), device_classes: DeviceClasses | Missing = ()
) -> GateOne:
    """The same, where the nodes with their pods are known by place."""
    resource = gpu_asked(pod) or names.GPU
    asked, claimed = _counted(defaulted_requests(pod.spec)), _by_claims(device_classes)
    beside = _placement(pod, places, namespaces)
    nodes = sorted((n for n in places.with_gpus if _may_be(pod, n)), key=lambda n: n.name)
    rows = tuple(_row(pod, _counted_on(n, asked, claimed), resource, n, places, beside(n.name)) for n in nodes)
    counts = resource not in claimed or any(row.asked for row in rows)
    return GateOne(
        resource=resource, asked=asked.get(resource, 0) if counts else 0, rows=rows, total_nodes=len(places.all)
    )


def gate_on(node: Node, places: Places, pod: Pod) -> GateOne:
    """The same of one node alone, for a pod without wishes about others."""
    resource, asked = gpu_asked(pod) or names.GPU, _counted(defaulted_requests(pod.spec))
    rows = (_row(pod, asked, resource, node, places, ()),) if is_gpu_node(node) else ()
    return GateOne(resource=resource, asked=asked.get(resource, 0), rows=rows, total_nodes=1)


def _counted(asked: Amounts) -> Amounts:
    """What the numbers of a node decide of what is asked for."""
    return {name: count for name, count in asked.items() if name not in names.HAMI_AMOUNTS}


def _by_claims(classes: DeviceClasses | Missing) -> frozenset[str]:
    """The resources that a class stands for."""
    known = () if isinstance(classes, Missing) else classes
    return frozenset(c.spec.extended_resource_name for c in known if c.spec.extended_resource_name)


def _counted_on(node: Node, asked: Amounts, claimed: frozenset[str]) -> Amounts:
    """The same of one node: where it advertises the resource, a plugin serves it and its numbers count.

    Source: kube-scheduler 1.37 plugins/noderesources/fit.go (gate DRAExtendedResource).
    """
    if claimed.isdisjoint(asked):
        return asked
    offers = amounts(node.status.capacity)
    return {name: count for name, count in asked.items() if name not in claimed or offers.get(name)}


def gpu_asked(pod: Pod) -> str:
    """The GPU resource that a pod asks for (the first by name), or "" when it asks for none."""
    spec = pod.spec
    if spec.overhead or spec.resources is not None:
        return _first_gpu(defaulted_requests(spec))
    return _gpu_asked_by(spec.containers, spec.init_containers)


@by_two
def _gpu_asked_by(containers: tuple[Container, ...], init: tuple[Container, ...]) -> str:
    return _first_gpu(defaulted_requests(PodSpec(containers=containers, init_containers=init)))


def _first_gpu(asked: Amounts) -> str:
    return min(filter(names.is_gpu_resource, asked), default="")


def is_for_machines(node: Node) -> bool:
    """Whether the node's GPUs are meant for virtual machines: the operator then runs no device plugin there."""
    return node.metadata.labels.get(names.WORKLOAD_CONFIG, "") in names.MACHINE_WORKLOADS


def _may_be(pod: Pod, node: Node) -> bool:
    return not pod.spec.node_name or pod.spec.node_name == node.name


def _placement(pod: Pod, places: Places, namespaces: Namespaces | Missing) -> Callable[[str], tuple[str, ...]]:
    """What the filters that look at other pods say of a node; asked only where a pod of the cluster has such wishes."""
    if isinstance(places.pods, Missing) or not (_has_wishes(pod) or places.any_wishes):
        return lambda name: ()
    others = (p for p in places.pods if (p.namespace, p.name) != (pod.namespace, pod.name))
    around = scene(places.all, others, () if isinstance(namespaces, Missing) else namespaces)
    asked = checks(pod, around)

    def words(name: str) -> tuple[str, ...]:
        refusals = (check(around.nodes[name]) for check in asked)
        return tuple(reason for r in refusals if r is not None and r.plugin in _PLACEMENT for reason in r.reasons)

    return words


def _has_wishes(pod: Pod) -> bool:
    return bool(pod.spec.affinity or pod.spec.topology_spread_constraints or host_ports(pod))


def _row(pod: Pod, asked: Amounts, resource: str, node: Node, places: Places, placement: tuple[str, ...]) -> GateRow:
    # A node without any allocatable (a cut file) tells nothing of its resources.
    counted = places.on(node.name) is not None
    told = node if not counted and isinstance(node, ToldNode) and node.requested else None
    known = bool(counted or told) and bool(node.status.allocatable)
    numbers, held = (_told_room(told, pod), ()) if told else places.beside(pod, node, resource)
    capacity = amounts(node.status.capacity).get(resource, 0)
    taints = untolerated_taints((t for t in node.spec.taints if not _is_cordon(t)), pod.spec.tolerations)
    misses = node_misses(pod.spec, node)
    short = shortages(asked, numbers) if node.status.allocatable else ()
    return GateRow(
        node=node.name,
        asked=asked.get(resource, 0),
        capacity=capacity,
        allocatable=numbers.allocatable.get(resource, 0),
        known=resource in node.status.capacity or resource in node.status.allocatable,
        requested=numbers.requested.get(resource, 0) if known else None,
        obstacles=_obstacles(pod, node, bool(taints), bool(misses), short, resource, capacity)
        + ((Obstacle.PLACEMENT,) if placement else ()),
        placement=placement,
        taints=taints,
        misses=misses,
        shortages=short,
        holders=held,
        others=_other_names(node, resource),
        named=told.pods if told else (),
        for_machines=is_for_machines(node),
    )


def _told_room(node: ToldNode, pod: Pod) -> Room:
    """A node's arithmetic as its description sums it up, without the pod itself where it is there."""
    there = f"{pod.namespace}/{pod.name}" in node.pods
    own = accounted_requests(pod) if there else {}
    requested = {name: max(count - own.get(name, 0), 0) for name, count in amounts(node.requested).items()}
    return Room(allocatable=amounts(node.status.allocatable), requested=requested | {PODS: len(node.pods) - there})


def _is_cordon(taint: Taint) -> bool:
    return taint.key == "node.kubernetes.io/unschedulable"


def _obstacles(
    pod: Pod, node: Node, tainted: bool, missed: bool, short: tuple[Shortage, ...], resource: str, capacity: int
) -> tuple[Obstacle, ...]:
    found = []
    if is_cordoned_for(node, pod.spec.tolerations):
        found.append(Obstacle.CORDON)
    if tainted:
        found.append(Obstacle.TAINT)
    if missed:
        found.append(Obstacle.SELECTOR)
    found += [o for s in short if s.resource == resource for o in _device_obstacles(s, capacity)]
    if any(s.resource != resource for s in short):
        found.append(Obstacle.OTHER)
    return tuple(found)


def _device_obstacles(short: Shortage, capacity: int) -> tuple[Obstacle, ...]:
    """The decision table for `Insufficient <device>` on one node: one obstacle, or two where both have to be mended."""
    if capacity == 0 and short.allocatable == 0:
        return (Obstacle.NO_RESOURCE,)
    if short.allocatable == 0:
        return (Obstacle.GONE,)
    if short.allocatable < capacity and capacity - short.used >= short.requested:
        return (Obstacle.UNHEALTHY,)
    held = Obstacle.HELD if short.headroom <= 0 else Obstacle.TOO_FEW
    # Without its holders the node would still not have enough that are healthy.
    return (Obstacle.UNHEALTHY, held) if short.allocatable < short.requested <= capacity else (held,)


def _other_names(node: Node, resource: str) -> tuple[str, ...]:
    advertised = amounts(node.status.allocatable)
    others = [n for n, count in advertised.items() if count and n != resource and names.is_gpu_resource(n)]
    return tuple(f"{n}: {advertised[n]}" for n in sorted(others))
