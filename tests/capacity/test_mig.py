"""MIG in planning: re-partition an idle node, and what devices leave to nobody."""

from typing import Any

import pytest

from lockgate.capacity.change import ChangeKind
from lockgate.capacity.fit import fit
from lockgate.capacity.mig_loss import MigGpu, lost_gb, mig_gpus, profiles_by_gpu
from lockgate.capacity.overview import overview
from lockgate.capacity.repartition import reconfigured, repartitions
from lockgate.capacity.table import By
from lockgate.mig.geometry import BOARDS, Board
from lockgate.model.facts import Snapshot
from lockgate.model.node_state import Device, DevicesState, GPUNodeState, NodeStateStatus
from lockgate.model.objects import Metadata
from lockgate.scheduling.scene import node_view, scene
from tests.capacity.build import GPU, gpu_node, gpu_pod

MIG = "nvidia.com/mig-2g.10gb"
PRODUCT = "NVIDIA-A100-SXM4-40GB"
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


def test_a_pod_that_asks_for_two_profiles_gets_the_configuration_that_has_both() -> None:
    ask = gpu_pod("ask", 1, resource=MIG, requests={"nvidia.com/mig-3g.20gb": 1})
    (change,) = fit(ask, scene([mixed("a")], []), copies=2).changes
    assert change.text == "re-partition a as all-balanced (each GPU becomes 2 x 1g.5gb + 1 x 2g.10gb + 1 x 3g.20gb)"
    assert change.copies == 2


def test_a_profile_that_no_board_here_has_is_said_with_those_that_there_are() -> None:
    answer = fit(gpu_pod("ask", 1, resource="nvidia.com/mig-1g.6gb"), scene([mixed("a")], []))
    assert answer.mind == (
        "no board here has the profile 1g.6gb, but 1g.10gb, 1g.5gb, 1g.5gb.me, 2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb",
    )
    assert fit(gpu_pod("ask", 1, resource=MIG), scene([mixed("a")], []), copies=9).mind == ()


def test_as_few_nodes_as_are_enough_are_partitioned() -> None:
    answer = fit(gpu_pod("ask", 1, resource=MIG), scene([mixed("a"), mixed("b"), mixed("c", 4)], []), copies=14)
    assert (answer.changes[0].kind, answer.changes[0].copies) == (ChangeKind.TOGETHER, 14)
    assert answer.changes[0].command.splitlines() == [
        "kubectl label node c nvidia.com/mig.config=all-2g.10gb --overwrite",
        "kubectl label node a nvidia.com/mig.config=all-2g.10gb --overwrite",
    ]


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.key)
def test_on_every_board_every_profile_is_had_after_re_partitioning_by_its_own_name(board: Board) -> None:
    labels = {"nvidia.com/gpu.product": board.words[0], "nvidia.com/gpu.memory": str(board.total_mib)}
    idle = mixed("a", 1, labels=labels)
    for shape in board.shapes:
        resource = shape.name.replace("+", ".")
        answer = fit(gpu_pod("ask", 1, resource=f"nvidia.com/mig-{resource}"), scene([idle], []), copies=shape.most)
        changes = {change.command.split()[4]: change.copies for change in answer.changes}
        assert changes[f"nvidia.com/mig.config=all-{resource}"] == shape.most


def test_idle_nodes_show_what_they_could_become() -> None:
    nodes = (mixed("a"), mixed("b"), mixed("held"), gpu_node("other"))
    pods = (gpu_pod("p", 1, node="held"),)
    seen = overview(Snapshot(nodes=nodes, pods=pods, node_states=()), By.NODE)
    (idle,) = seen.partitionable
    assert (idle.nodes, idle.gpus) == (("a", "b"), 4)
    told = {option.config: (dict(option.devices), option.lost_gb) for option in idle.options}
    assert told["all-1g.5gb"] == ({"1g.5gb": 7}, 5)
    assert told["all-balanced"] == ({"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}, 0)
    assert told["all-4g.20gb"] == ({"4g.20gb": 1}, 0)
    assert len(told) == 8


def test_nodes_without_an_agent_are_taken_to_be_cut_alike() -> None:
    cut = mixed("a", 2, capacity={GPU: "0", "nvidia.com/mig-1g.5gb": "14"})
    odd = mixed("b", 2, capacity={GPU: "0", "nvidia.com/mig-1g.5gb": "13"})
    assert mig_gpus([], [cut, odd]) == (MigGpu(node="a", gpu="each of 2", profiles=(("1g.5gb", 7),), lost_gb=5),)


def test_the_only_gpu_of_a_node_without_an_agent_is_called_by_its_index() -> None:
    (cut,) = mig_gpus([], [mixed("a", 1, capacity={GPU: "0", "nvidia.com/mig-1g.5gb": "7"})])
    assert cut.gpu == "0"


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
    assert repartitions(node_view(node, pods), [MIG]) == ()


def single(name: str, devices: int, profile: str = "", **labels: str) -> Any:
    """A node of the strategy `single`, cut into devices of one profile or whole."""
    told = {"nvidia.com/mig.strategy": "single"} | labels
    cut = {"nvidia.com/gpu.product": f"{PRODUCT}-MIG-{profile}", "nvidia.com/gpu.memory": "9856"} if profile else {}
    return gpu_node(name, devices, labels=told | cut)


def test_under_single_a_device_is_offered_as_a_gpu_of_its_product() -> None:
    (change,) = fit(gpu_pod("ask", 1, resource=MIG), scene([single("a", 2), gpu_node("b", 2)], []), copies=7).changes
    assert (change.kind, change.copies) == (ChangeKind.REPARTITION, 6)
    assert change.text.startswith(
        "re-partition a as all-2g.10gb (each GPU becomes 3 x 2g.10gb), and ask for nvidia.com/gpu with nodeSelector "
        f"nvidia.com/gpu.product={PRODUCT}-MIG-2g.10gb"
    )
    assert change.command == "kubectl label node a nvidia.com/mig.config=all-2g.10gb --overwrite"


def test_under_single_devices_that_are_there_are_asked_for_otherwise_without_cutting() -> None:
    held = [gpu_pod("p", 1, node="a")]
    (change,) = fit(gpu_pod("ask", 1, resource=MIG), scene([single("a", 6, "2g.10gb")], held), copies=9).changes
    assert (change.kind, change.copies, change.command) == (ChangeKind.SELECT, 5, "")


@pytest.mark.parametrize(
    ("config", "gpus", "product"),
    [
        ("all-disabled", "2", PRODUCT),
        ("all-1g.5gb", "14", f"{PRODUCT}-MIG-1g.5gb"),
        ("all-enabled", "0", f"{PRODUCT}-MIG-INVALID"),
    ],
)
def test_a_node_of_strategy_single_counts_its_devices_as_gpus(config: str, gpus: str, product: str) -> None:
    after = reconfigured(node_view(single("a", 6, "2g.10gb"), []), config)
    assert not isinstance(after, str)
    labels = after.node.metadata.labels
    assert (after.node.status.allocatable[GPU], labels["nvidia.com/gpu.count"]) == (gpus, gpus)
    assert labels["nvidia.com/gpu.product"] == product


@pytest.mark.parametrize(
    ("node", "config", "why"),
    [
        (single("a", 2), "all-balanced", "the MIG strategy is single: all devices must be of one profile"),
        (single("a", 2), "all-9g", "the board A100-40GB has no such configuration, but all-disabled, all-enabled"),
        (single("a", 5, "2g.10gb"), "all-1g.5gb", "how many GPUs the 5 devices of 2g.10gb are cut from"),
        (single("a", 4, "1g.10gb"), "all-1g.5gb", "which board it is cannot be told from the label"),
        (gpu_node("a", 2), "all-1g.5gb", "the MIG strategy is none"),
        (mixed("a", labels={"nvidia.com/gpu.count": ""}), "all-1g.5gb", "no label nvidia.com/gpu.count"),
        (mixed("a", labels={"nvidia.com/gpu.product": "Tesla-T4"}), "all-1g.5gb", "Tesla-T4 cannot be partitioned"),
    ],
)
def test_why_a_node_cannot_have_a_configuration_is_said(node: Any, config: str, why: str) -> None:
    assert str(reconfigured(node_view(node, []), config)).startswith(why)


def test_where_no_node_can_be_cut_the_reasons_are_said_once_each() -> None:
    nodes = [mixed("a"), gpu_node("b", 2), gpu_node("c", 2), single("d", 2)]
    seen = fit(gpu_pod("ask", 1, resource=MIG), scene(nodes, [gpu_pod("p", 1, node="a")]), copies=99)
    assert seen.mind == (
        "a cannot be re-partitioned: pods hold nvidia.com/gpu there",
        "b, c cannot be re-partitioned: the MIG strategy is none: the device plugin hands out no MIG devices",
    )


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


def test_a_node_that_is_not_ready_is_not_offered_for_a_new_partition() -> None:
    dead = mixed("dead", conditions=[{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}])
    assert overview(Snapshot(nodes=(dead,), pods=(), node_states=()), By.NODE).partitionable == ()
    answer = fit(gpu_pod("ask", 1, resource=MIG), scene([dead], []))
    assert answer.changes == ()
    assert answer.mind == (
        "dead cannot be re-partitioned: condition Ready is Unknown (NodeStatusUnknown): "
        "nothing runs there that could apply a configuration",
    )
