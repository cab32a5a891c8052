"""MIG in planning: re-partition an idle node, and what devices leave to nobody."""

from typing import Any

import pytest

from lockgate.capacity.changes import ChangeKind
from lockgate.capacity.fit import fit
from lockgate.capacity.mig_loss import MigGpu, lost_gb, mig_gpus, profiles_by_gpu
from lockgate.capacity.repartition import repartitions
from lockgate.mig.geometry import BOARDS
from lockgate.model.node_state import Device, DevicesState, GPUNodeState, NodeStateStatus
from lockgate.model.objects import Metadata
from lockgate.scheduling.scene import node_view, scene
from tests.capacity.build import GPU, gpu_node, gpu_pod

MIG = "nvidia.com/mig-2g.10gb"
MIXED = {"nvidia.com/mig.strategy": "mixed"}
A100 = next(board for board in BOARDS if board.key == "A100-40GB")


def mixed(name: str, gpus: int = 2, **fields: Any) -> Any:
    return gpu_node(name, gpus, labels=MIXED | fields.pop("labels", {}), **fields)


def test_an_idle_node_can_be_cut_into_what_is_asked_and_the_configuration_is_named() -> None:
    answer = fit(gpu_pod("ask", 1, resource=MIG), scene([mixed("a")], []), copies=7)
    (change,) = answer.changes
    assert change.kind is ChangeKind.REPARTITION
    assert change.text == "re-partition a as all-2g.10gb (each GPU becomes 3 x 2g.10gb)"
    assert change.command == "kubectl label node a nvidia.com/mig.config=all-2g.10gb --overwrite"
    assert (answer.copies, change.copies) == (0, 6)  # 2 GPUs of 3 devices each


def test_a_partitioned_node_can_become_whole_again() -> None:
    cut = mixed("a", 2, capacity={GPU: "0", MIG: "6"})
    (change,) = fit(gpu_pod("ask", 2), scene([cut], [])).changes
    assert "all-disabled" in change.text


@pytest.mark.parametrize(
    ("node", "held"),
    [
        (mixed("a"), True),
        (gpu_node("a", 2), False),
        (mixed("a", labels={"nvidia.com/gpu.memory": "15360", "nvidia.com/gpu.product": "Tesla-T4"}), False),
        (mixed("a", labels={"nvidia.com/gpu.memory": "81920"}), False),
    ],
    ids=["a pod holds a GPU", "strategy none", "a board without MIG", "a board without that profile"],
)
def test_nodes_that_cannot_be_cut_so_are_not_offered(node: Any, held: bool) -> None:
    pods = [gpu_pod("held", 1, node="a")] if held else []
    assert repartitions(node_view(node, pods), MIG) == ()


@pytest.mark.parametrize(
    ("profiles", "lost"),
    [
        (["1g.5gb"] * 7, 5),
        (["7g.40gb"], 0),
        (["3g.20gb", "3g.20gb"], 0),
        (["4g.20gb", "1g.5gb", "1g.5gb", "1g.5gb"], 5),
        (["1g.5gb.me"], 0),
        (["4g.20gb", "4g.20gb"], None),
        (["1g.6gb"], None),
    ],
)
def test_what_devices_leave_to_nobody(profiles: list[str], lost: int | None) -> None:
    assert lost_gb(A100, profiles) == lost


def test_devices_are_grouped_by_their_gpu() -> None:
    devices = [
        Device(index="0:0", resource="nvidia.com/mig-1g.5gb"),
        Device(index="0:1", resource=MIG),
        Device(index="1", resource=GPU),
    ]
    assert profiles_by_gpu(devices) == {"0": ("1g.5gb", "2g.10gb")}


def test_the_overview_lists_partitioned_gpus_with_their_loss() -> None:
    product = "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
    devices = tuple(Device(index=f"0:{i}", resource="nvidia.com/mig-1g.5gb", product=product) for i in range(7))
    state = GPUNodeState(metadata=Metadata(name="a"), status=NodeStateStatus(devices=DevicesState(devices=devices)))
    assert mig_gpus([state]) == (MigGpu(node="a", gpu="0", profiles=(("1g.5gb", 7),), lost_gb=5),)
