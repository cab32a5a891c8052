"""Extended resources that a DeviceClass stands for: nodes that do not advertise them serve them by claims."""

from typing import Any

import msgspec
import pytest

from lockgate.capacity.by_claims import ByClaims, by_claims
from lockgate.capacity.fit import fit
from lockgate.capacity.overview import known_scene, overview, scene_of
from lockgate.capacity.table import By
from lockgate.model.claims import DeviceClass, ResourceClaim, ResourceSlice
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.objects import Metadata, Node, NodeStatus, Pod
from lockgate.model.told import ToldNode
from tests.capacity.build import GPU, gpu_node, gpu_pod

CLASS = msgspec.convert(
    {"metadata": {"name": "gpu.nvidia.com"}, "spec": {"extendedResourceName": GPU}}, type=DeviceClass
)
BARE = gpu_node("dra", labels={}, capacity={GPU: "0"})


def devices(count: int, node: str = "dra", driver: str = "gpu.nvidia.com") -> ResourceSlice:
    offered = [{"name": f"gpu-{number}"} for number in range(count)]
    spec = {"driver": driver, "nodeName": node, "pool": {"name": "dra"}, "devices": offered}
    return msgspec.convert({"metadata": {"name": "s"}, "spec": spec}, type=ResourceSlice)


def claim(name: str, device: str) -> ResourceClaim:
    held = [{"driver": "gpu.nvidia.com", "pool": "dra", "device": device}]
    status = {"allocation": {"devices": {"results": held}}}
    return msgspec.convert({"metadata": {"name": name, "namespace": "default"}, "status": status}, type=ResourceClaim)


def served(name: str, claimed: str) -> Pod:
    status = {
        "phase": "Running",
        "extendedResourceClaimStatus": {
            "resourceClaimName": claimed,
            "requestMappings": [{"containerName": "c", "resourceName": GPU}],
        },
    }
    return gpu_pod(name, 1, node="dra", status=status)


def answer(gpus: int, node: Node = BARE, pods: tuple[Pod, ...] = (), **sections: Any) -> tuple[int, bool]:
    """How many copies of one pod fit of one, and whether that is open."""
    found = looked(gpus, node, pods, **sections)
    return fit(gpu_pod("ask", gpus), found.scene).copies, bool(found.undecided)


def looked(gpus: int, node: Node = BARE, pods: tuple[Pod, ...] = (), **sections: Any) -> ByClaims:
    known: dict[str, Any] = {"device_classes": (CLASS,), "resource_slices": (devices(2),), "resource_claims": ()}
    snapshot = Snapshot(nodes=(node,), pods=pods, **known | sections)
    return by_claims(gpu_pod("ask", gpus), scene_of(snapshot), snapshot)


def test_free_devices_take_the_pod_as_far_as_is_known() -> None:
    assert answer(2) == (1, True)
    assert answer(3) == (0, True)


def test_a_pod_that_was_served_so_holds_its_device_once() -> None:
    held = {"pods": (served("p", "p-extended"),), "resource_claims": (claim("p-extended", "gpu-0"),)}
    assert answer(1, **held) == (1, True)
    assert answer(2, **held) == (0, True)


def test_what_a_description_sums_up_is_taken_beside_free_devices() -> None:
    amounts = {GPU: "0", "cpu": "8", "pods": "3"}
    status = NodeStatus(capacity=amounts, allocatable=amounts)
    node = ToldNode(metadata=Metadata(name="dra"), status=status, requested={"cpu": "1", GPU: "1"}, pods=("x/a", "x/b"))
    full = msgspec.structs.replace(node, pods=(*node.pods, "x/c"))
    sections = {"device_classes": (CLASS,), "resource_slices": (devices(2),), "resource_claims": (claim("p", "gpu-0"),)}
    for each, copies in ((node, 1), (full, 0)):
        snapshot = Snapshot(nodes=(each,), pods=Missing("a description does not show them"), **sections)
        found = by_claims(gpu_pod("ask", 1), known_scene(snapshot), snapshot)
        assert fit(gpu_pod("ask", 1), found.scene, 2, all_pods=False).copies == copies


def test_claims_that_somebody_wrote_hold_devices_too() -> None:
    assert answer(1, resource_claims=(claim("mine", "gpu-0"),)) == (1, True)
    assert answer(2, resource_claims=(claim("mine", "gpu-0"),)) == (0, True)


@pytest.mark.parametrize(
    ("slices", "said"), [((devices(2),), True), ((devices(2, driver="nic.example"),), False), (Missing("unread"), True)]
)
def test_the_account_says_whose_devices_it_does_not_count(slices: Any, said: bool) -> None:
    known = Snapshot(nodes=(BARE,), pods=(served("p", "p-extended"),), resource_slices=slices)
    text = "devices that default/p hold by claims: they are not in these numbers"
    assert (text in overview(known, By.NODE).unknown) is said


@pytest.mark.parametrize("section", ["resource_slices", "resource_claims"])
def test_where_the_devices_are_not_known_it_is_open(section: str) -> None:
    missing = {section: Missing("not read", "kubectl get resourceslices")}
    assert answer(1, **missing) == (0, False)
    assert "not read; to know it: kubectl get resourceslices" in looked(1, **missing).unread[0]
    assert looked(1, gpu_node("full", 1), **missing).unread == ()


def test_devices_that_several_nodes_can_reach_are_not_counted() -> None:
    of_many = {"resource_slices": (devices(2, node=""),)}
    assert answer(9, **of_many) == (0, False)
    assert "within reach of several nodes" in looked(9, **of_many).unread[0]


REFUSED = Missing("may not list", "RBAC: list on deviceclasses.resource.k8s.io", refused=True)
OLD = gpu_node("old", labels={}, capacity={GPU: "0"}, kubelet="v1.33.4")
NEW = gpu_node("new", labels={}, capacity={GPU: "0"}, kubelet="v1.34.0")


@pytest.mark.parametrize(
    ("node", "missing", "is_open"),
    [
        (NEW, REFUSED, True),
        (BARE, REFUSED, True),
        (OLD, REFUSED, False),
        (NEW, Missing("no such kind", unserved=True), False),
        (gpu_node("full", 1), REFUSED, False),
    ],
    ids=["new", "not told", "too old", "not served", "advertises itself"],
)
def test_classes_that_were_not_read_leave_it_open_where_claims_may_serve(
    node: Node, missing: Missing, is_open: bool
) -> None:
    said = "; ".join(looked(1, node, device_classes=missing).unread)
    assert bool(said) is is_open
    assert not said or f"serve it on {node.name}: may not list; to know it: RBAC: list" in said


def test_a_node_that_advertises_the_resource_itself_is_judged_by_its_numbers() -> None:
    assert answer(2, gpu_node("dra", 1)) == (0, False)
    assert answer(1, gpu_node("dra", 1)) == (1, False)


def test_without_such_a_class_or_with_devices_of_another_driver_nothing_serves_it() -> None:
    assert answer(1, device_classes=()) == (0, False)
    assert answer(1, resource_slices=(devices(2, driver="nic.example.com"),)) == (0, False)
