"""Extended resources that a DeviceClass stands for: nodes without a device plugin serve them by claims.

The scheduler makes a claim for such a pod and looks for free devices (KEP-5004, Kubernetes 1.34 and later); where a
node advertises the resource itself, its numbers decide as ever. Which devices a class takes its selectors say, in CEL,
which is not judged here: a node with enough free devices takes the pod as far as is known, one with too few does not.
Where classes or devices were not read it is not known whether such a node takes it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from lockgate.kit.counted import few
from lockgate.model import names
from lockgate.model.claims import AllocatedDevice
from lockgate.model.facts import DeviceClasses, Missing, Snapshot
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.filters import checks_but_room, first
from lockgate.scheduling.node_fit import Room
from lockgate.scheduling.requests import pod_requests
from lockgate.scheduling.scene import NodeView, Scene, node_view

_FIRST: Final = (1, 34)  # of Kubernetes, that does so
_VERSION: Final = re.compile(r"v?(?P<major>\d+)\.(?P<minor>\d+)")
_COUNTED: Final = "free devices are counted there, and whether its selectors take them is for the scheduler to say"


class ByClaims(msgspec.Struct, frozen=True, kw_only=True):
    """The scene with the devices that claims could take as room of their nodes, and what that leaves open.

    `undecided` could still keep the pod away from that room, `unread` could still take it.
    """

    scene: Scene
    undecided: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def by_claims(pod: Pod, scene: Scene, snapshot: Snapshot) -> ByClaims:
    """Count free devices for what the pod asks by the name of a DeviceClass, on nodes that do not advertise it."""
    if isinstance(snapshot.device_classes, Missing):
        return ByClaims(scene=scene, unread=tuple(_without_classes(pod, scene, snapshot.device_classes)))
    offered, undecided, unread = _offered(snapshot), list[str](), list[str]()
    for resource, device_class in _classes(pod, snapshot.device_classes).items():
        silent = _silent(scene, resource)
        if offered is None:
            unread += (
                [f"{_served(resource, device_class)}; {_unseen(snapshot)}"] if _open_to(pod, scene, silent) else []
            )
            continue
        room = {v.name: _with_room(v, resource, offered[v.name]) for v in silent if offered.get(v.name)}
        if room:
            scene = msgspec.structs.replace(scene, nodes={**scene.nodes, **room})
            undecided.append(f"{_served(resource, device_class)}; {_COUNTED}")
    return ByClaims(scene=scene, undecided=tuple(undecided), unread=tuple(unread))


def holds_claims(pod: Pod) -> bool:
    """Whether a pod has a node, and devices there by claims, be they written by somebody or made for what it asks."""
    return bool(pod.spec.node_name and (pod.spec.resource_claims or pod.status.extended_resource_claim_status))


def _without_classes(pod: Pod, scene: Scene, missing: Missing) -> Iterator[str]:
    for resource in _asked(pod):
        new = [v.name for v in _open_to(pod, scene, _silent(scene, resource)) if _may_serve(v.node)]
        if new and not missing.unserved:
            yield f"whether a DeviceClass stands for {resource}, so that claims serve it on {few(new)}: {missing.text}"


def _asked(pod: Pod) -> list[str]:
    """The GPU resources that a pod asks for."""
    return [name for name, count in pod_requests(pod).items() if count and names.is_gpu_resource(name)]


def _silent(scene: Scene, resource: str) -> list[NodeView]:
    """The GPU nodes that do not advertise a resource: the others are judged by their numbers."""
    return [v for v in scene.nodes.values() if is_gpu_node(v.node) and not v.room.allocatable.get(resource)]


def _open_to(pod: Pod, scene: Scene, views: Iterable[NodeView]) -> list[NodeView]:
    """Those that refuse the pod for nothing but room."""
    asked = checks_but_room(pod, scene)
    return [view for view in views if first(asked, view) is None]


def _may_serve(node: Node) -> bool:
    """Whether a node's kubelet is new enough, or does not tell."""
    found = _VERSION.match(node.status.node_info.kubelet_version)
    return found is None or (int(found["major"]), int(found["minor"])) >= _FIRST


def _classes(pod: Pod, known: DeviceClasses) -> Mapping[str, str]:
    """The GPU resources that the pod asks for and a class stands for, with the class."""
    named = {c.spec.extended_resource_name: c.name for c in known}
    return {resource: named[resource] for resource in _asked(pod) if resource in named}


def _offered(snapshot: Snapshot) -> Mapping[str, int] | None:
    """NVIDIA's devices by node, without those that claims hold which somebody wrote; None where that is not known.

    What claims of extended resources hold is counted by the requests of their pods.
    """
    slices, claims = snapshot.resource_slices, snapshot.resource_claims
    if isinstance(slices, Missing) or isinstance(claims, Missing):
        return None
    own = [s.spec for s in slices if s.spec.driver == names.CLAIMS_DRIVER]
    if not all(s.node_name for s in own):  # devices that several nodes can reach
        return None
    made, found = set(_made(snapshot)), Counter[str]()
    held = {d for c in claims if (c.namespace, c.name) not in made for d in c.devices}
    for each in own:
        devices = (AllocatedDevice(driver=each.driver, pool=each.pool.name, device=d.name) for d in each.devices)
        found[each.node_name] += sum(device not in held for device in devices)
    return found


def _made(snapshot: Snapshot) -> Iterable[tuple[str, str]]:
    """The claims that the scheduler made for pods' extended resources."""
    for pod in snapshot.known_pods:
        if claim := pod.status.extended_resource_claim_status:
            yield pod.namespace, claim.resource_claim_name


def _with_room(view: NodeView, resource: str, count: int) -> NodeView:
    status = view.node.status
    offers = {**status.allocatable, resource: count}
    node = msgspec.structs.replace(view.node, status=msgspec.structs.replace(status, allocatable=offers))
    found = node_view(node, view.pods)
    if view.summed_up is None:
        return found
    # Of the sum of a description, what claims serve is among the devices that they hold.
    requested = {**view.summed_up.requested, resource: found.room.requested.get(resource, 0)}
    return msgspec.structs.replace(found, summed_up=Room(allocatable=found.room.allocatable, requested=requested))


def _served(resource: str, device_class: str) -> str:
    return f"{resource} is served by claims of DeviceClass {device_class} on nodes that do not advertise it"


def _unseen(snapshot: Snapshot) -> str:
    unread = [s for s in (snapshot.resource_slices, snapshot.resource_claims) if isinstance(s, Missing)]
    why = "; ".join(m.text for m in unread) or "some of them are within reach of several nodes"
    return f"which devices are free there is not known: {why}"
