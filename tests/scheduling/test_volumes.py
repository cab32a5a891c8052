"""Claims that must be bound first, and volumes that only some nodes reach."""

import msgspec
import pytest

from lockgate.model.objects import PersistentVolumeClaim, Pod, StorageClass
from lockgate.scheduling.filters import Placement, place
from lockgate.scheduling.scene import Storage, scene, storage
from tests.scheduling.build import claim, node, pod, volume

LATE = msgspec.convert({"metadata": {"name": "late"}, "volumeBindingMode": "WaitForFirstConsumer"}, StorageClass)
NODES = [
    node("a", labels={"host": "a", "topology.kubernetes.io/zone": "z1"}),
    node("b", labels={"host": "b", "topology.kubernetes.io/zone": "z2"}),
]


def mounting(name: str) -> Pod:
    return pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": name}}])


def placed(known: Storage, name: str = "data") -> Placement:
    return place(mounting(name), scene(NODES, [], storage=known))


def test_a_volume_that_one_host_reaches_keeps_the_pod_there() -> None:
    placement = placed(storage([claim("data", "pv")], [volume("pv", hosts=("b",))]))
    assert placement.nodes_that_fit == ("b",)
    assert placement.counts == {"node(s) didn't match PersistentVolume's node affinity": 1}


@pytest.mark.parametrize("key", ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"])
def test_a_volumes_zone_labels_must_agree_with_the_nodes(key: str) -> None:
    placement = placed(storage([claim("data", "pv")], [volume("pv", {key: "z1__z3"})]))
    assert placement.nodes_that_fit == ("a",)
    assert placement.counts == {"node(s) had no available volume zone": 1}


def test_a_claim_bound_to_a_volume_that_is_gone() -> None:
    placement = placed(storage([claim("data", "pv")]))
    assert placement.counts == {"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)": 2}


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ([], 'persistentvolumeclaim "data" not found'),
        ([claim("data")], "pod has unbound immediate PersistentVolumeClaims"),
        ([claim("data", namespace="other")], 'persistentvolumeclaim "data" not found'),
    ],
)
def test_what_must_be_mended_before_any_node_is_looked_at(claims: list[PersistentVolumeClaim], message: str) -> None:
    placement = placed(storage(claims))
    assert placement.rejected is not None and placement.rejected.message == message


def test_an_unbound_claim_that_waits_for_its_pod_is_left_undecided_and_said() -> None:
    placement = placed(storage([claim("data", storage_class="late")], classes=[LATE]))
    assert placement.nodes_that_fit == ("a", "b")
    assert placement.unmodelled == ("volumes: which volume the unbound claims data would get on a node",)


def test_a_generic_ephemeral_volume_has_a_claim_named_after_the_pod() -> None:
    asked = pod("train", volumes=[{"name": "scratch", "ephemeral": {}}])
    placement = place(asked, scene(NODES, [], storage=storage([])))
    assert placement.rejected is not None
    assert placement.rejected.message == (
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "train-scratch"'
    )


def test_a_node_without_zone_labels_takes_volumes_of_any_zone() -> None:
    known = storage([claim("data", "pv")], [volume("pv", {"topology.kubernetes.io/zone": "z1"})])
    assert place(mounting("data"), scene([node("bare")], [], storage=known)).nodes_that_fit == ("bare",)


def test_a_bound_claim_whose_volumes_were_not_read_is_left_undecided_and_said() -> None:
    placement = placed(storage([claim("data", "pv")], None))
    assert placement.nodes_that_fit == ("a", "b")
    assert placement.unmodelled == (
        "volumes: from which nodes pv can be reached, since PersistentVolumes were not read",
    )


def test_an_unbound_claim_whose_class_was_not_read_is_left_undecided_and_said() -> None:
    placement = placed(storage([claim("data", storage_class="late")], (), None))
    assert placement.nodes_that_fit == ("a", "b")
    assert placement.unmodelled == ("volumes: which volume the unbound claims data would get on a node",)
