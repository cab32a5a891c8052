"""Extended resources that a DeviceClass stands for: nodes without a device plugin serve them by claims.

The scheduler makes a claim for such a pod and looks for free devices (KEP-5004, Kubernetes 1.34 and later); where a
node advertises the resource itself, its numbers decide as ever. Which devices a class takes its selectors say, in CEL,
which is not judged here: a node with enough free devices takes the pod as far as is known, one with too few does not.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from lockgate.model import names
from lockgate.model.claims import AllocatedDevice
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import Pod
from lockgate.scheduling.requests import pod_requests
from lockgate.scheduling.scene import NodeView, Scene, node_view

_UNCOUNTED: Final = 1_000_000  # more than is ever asked for: how many there are is not known


class ByClaims(msgspec.Struct, frozen=True, kw_only=True):
    """The scene with the devices that claims could take as room of their nodes, and what that leaves open."""

    scene: Scene
    undecided: tuple[str, ...] = ()


def by_claims(pod: Pod, scene: Scene, snapshot: Snapshot) -> ByClaims:
    """Count free devices for what the pod asks by the name of a DeviceClass, on nodes that do not advertise it."""
    offered, undecided = _offered(snapshot), []
    for resource, device_class in _classes(pod, snapshot).items():
        room = {
            view.name: _with_room(view, resource, count)
            for view in scene.nodes.values()
            if is_gpu_node(view.node) and not view.room.allocatable.get(resource)
            if (count := _UNCOUNTED if offered is None else offered.get(view.name, 0))
        }
        if room:
            scene = msgspec.structs.replace(scene, nodes={**scene.nodes, **room})
            undecided.append(_open(resource, device_class, snapshot))
    return ByClaims(scene=scene, undecided=tuple(undecided))


def _classes(pod: Pod, snapshot: Snapshot) -> Mapping[str, str]:
    """The GPU resources that the pod asks for and a class stands for, with the class."""
    known = () if isinstance(snapshot.device_classes, Missing) else snapshot.device_classes
    named = {c.spec.extended_resource_name: c.name for c in known}
    return {r: named[r] for r, count in pod_requests(pod).items() if count and names.is_gpu_resource(r) and r in named}


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
    return node_view(node, view.pods)


def _open(resource: str, device_class: str, snapshot: Snapshot) -> str:
    served = f"{resource} is served by claims of DeviceClass {device_class} on nodes that do not advertise it"
    unread = [s for s in (snapshot.resource_slices, snapshot.resource_claims) if isinstance(s, Missing)]
    if unread:
        return f"{served}; which devices are free there is not known: {'; '.join(m.text for m in unread)}"
    return f"{served}; free devices are counted there, and whether its selectors take them is for the scheduler to say"
