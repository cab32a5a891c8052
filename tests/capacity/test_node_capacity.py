"""One GPU node's account: physical, healthy, slots, memory guarantees, locks."""

from typing import Any

import msgspec
import pytest

from lockgate.capacity.locks import LockKind, locks_of
from lockgate.capacity.node_capacity import NodeCapacity, gpu_nodes, node_capacity
from lockgate.capacity.shared import worth
from lockgate.capacity.slots import Sharing
from lockgate.model.node_state import Device, DevicesState, GPUNodeState, NodeStateStatus
from lockgate.model.objects import Metadata, Node
from lockgate.scheduling.scene import scene
from tests.capacity.build import A100, GPU, cpu_node, gpu_node, gpu_pod


def account(node: Node, *pods: Any) -> NodeCapacity:
    (found,) = gpu_nodes(scene([node], pods), {})
    return found


def test_unhealthy_devices_leave_allocatable_only() -> None:
    seen = account(gpu_node("a", 8, allocatable={GPU: "6"}), gpu_pod("p", 5, node="a"))
    (slots,) = seen.slots
    assert (seen.physical, seen.healthy) == (8, 6)
    assert (slots.capacity, slots.allocatable, slots.requested, slots.headroom, slots.unhealthy) == (8, 6, 5, 1, 2)


def test_a_node_that_only_says_that_gpus_are_there_does_not_count_as_none() -> None:
    """A zero would read as "no GPU is in this machine"; the resource is not there since no plugin ran."""
    labels = {"feature.node.kubernetes.io/pci-0302_10de_20b5.present": "true"}
    silent = msgspec.structs.replace(cpu_node("a"), metadata=Metadata(name="a", labels=labels))
    seen = account(silent)
    assert (seen.physical, seen.healthy, seen.slots) == (None, None, ())


def test_pods_that_hold_more_than_is_left_are_said() -> None:
    seen = account(gpu_node("a", 8, allocatable={GPU: "4"}), gpu_pod("p", 6, node="a"))
    assert (seen.slots[0].headroom, seen.slots[0].overheld) == (0, 2)


def test_time_slicing_multiplies_slots_and_guarantees_nothing() -> None:
    """The guide's example: one GPU of 24 GB announced as 5 slots; 4.8 GB is arithmetic, the guarantee is 0."""
    labels = {"nvidia.com/gpu.replicas": "5", "nvidia.com/gpu.count": "1", "nvidia.com/gpu.memory": "24576"}
    labels |= {"nvidia.com/gpu.sharing-strategy": "time-slicing", "nvidia.com/gpu.product": "T-SHARED"}
    seen = account(gpu_node("a", 5, labels=labels))
    (slots,) = seen.slots
    assert (seen.physical, slots.capacity, slots.sharing) == (1, 5, Sharing.TIME_SLICING)
    assert slots.guaranteed_mib == 0
    assert worth(slots) == (
        "5 slots share one GPU of 24 GiB: 0 is guaranteed, 4.8 GiB each is mere arithmetic; errors are shared too"
    )


def test_mps_caps_each_client_at_its_part() -> None:
    labels = {"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "mps", "nvidia.com/gpu.count": "1"}
    (slots,) = account(gpu_node("a", 4, labels=labels)).slots
    assert (slots.sharing, slots.guaranteed_mib) == (Sharing.MPS, 10240)


def test_a_renamed_resource_reads_the_labels_of_its_original_name() -> None:
    labels = {"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.count": "2"}
    shared = {"nvidia.com/gpu.shared": "8", GPU: "0"}
    seen = account(gpu_node("a", 0, labels=labels, capacity=shared))
    assert seen.physical == 2
    assert [(s.resource, s.sharing, s.replicas) for s in seen.slots] == [
        (GPU, Sharing.TIME_SLICING, 4),
        ("nvidia.com/gpu.shared", Sharing.TIME_SLICING, 4),
    ]


def test_mig_devices_are_exact_and_do_not_count_whole_gpus() -> None:
    mig = "nvidia.com/mig-1g.5gb"
    seen = account(
        gpu_node("a", 0, labels={"nvidia.com/gpu.count": "2", f"{mig}.memory": "4864"}, capacity={mig: "14"})
    )
    slots = seen.slots_named(mig)
    assert slots is not None and (slots.sharing, slots.guaranteed_mib) == (Sharing.MIG, 4864)
    assert (seen.physical, seen.healthy) == (2, 2)


def test_where_a_mig_device_is_unwell_it_is_not_known_how_many_gpus_are() -> None:
    mig = "nvidia.com/mig-1g.5gb"
    node = gpu_node("a", 0, labels={"nvidia.com/gpu.count": "2"}, capacity={mig: "14"}, allocatable={mig: "12"})
    assert (account(node).physical, account(node).healthy) == (2, None)


def test_under_strategy_single_nothing_says_how_many_gpus_there_are() -> None:
    labels = {
        "nvidia.com/gpu.product": f"{A100}-MIG-1g.5gb",
        "nvidia.com/gpu.count": "7",
        "nvidia.com/gpu.memory": "4864",
    }
    seen = account(gpu_node("a", 7, labels=labels))
    assert (seen.physical, seen.slots[0].sharing) == (None, Sharing.MIG)


def test_the_agents_list_of_devices_is_believed_before_labels() -> None:
    devices = tuple(Device(index=index, healthy=index != "1:0") for index in ("0:0", "0:1", "1:0", "1:1"))
    state = GPUNodeState(metadata=Metadata(name="a"), status=NodeStateStatus(devices=DevicesState(devices=devices)))
    view = scene([gpu_node("a", 8)], []).nodes["a"]
    seen = node_capacity(view, state)
    assert (seen.physical, seen.healthy) == (2, 1)


def test_a_gpu_node_that_advertises_nothing_is_listed_and_others_are_not() -> None:
    bare = msgspec.structs.replace(
        cpu_node("b"), metadata=Metadata(name="b", labels={"nvidia.com/gpu.present": "true"})
    )
    assert [n.node for n in gpu_nodes(scene([bare, cpu_node("c"), gpu_node("a")], []), {})] == ["a", "b"]


@pytest.mark.parametrize(
    ("fields", "kinds"),
    [
        ({}, []),
        ({"unschedulable": True}, [LockKind.CORDONED]),
        (
            {"taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}], "unschedulable": True},
            ["cordoned"],
        ),
        ({"taints": [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}]}, [LockKind.TAINTED]),
        ({"taints": [{"key": GPU, "value": "present", "effect": "NoSchedule"}]}, []),
        ({"taints": [{"key": "soft", "effect": "PreferNoSchedule"}]}, []),
        (
            {
                "conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}],
                "taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}],
            },
            [LockKind.NOT_READY],
        ),
        ({"labels": {"nvidia.com/gpu-driver-upgrade-state": "drain-required"}}, [LockKind.UPGRADING]),
        ({"labels": {"nvidia.com/gpu-driver-upgrade-state": "upgrade-done"}}, []),
        ({"labels": {"nvidia.com/gpu.deploy.device-plugin": "paused-for-mig-change"}}, [LockKind.PAUSED]),
    ],
)
def test_what_locks_a_node(fields: dict[str, Any], kinds: list[LockKind]) -> None:
    assert [lock.kind for lock in locks_of(gpu_node("a", **fields))] == kinds
