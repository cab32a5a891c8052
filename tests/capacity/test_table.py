"""The capacity table: sums that add up, locked headroom apart, waiting demand."""

from hypothesis import given
from hypothesis import strategies as st

from lockgate.capacity.demand import waiting
from lockgate.capacity.node_capacity import gpu_nodes
from lockgate.capacity.table import By, namespace_rows, rows, total
from lockgate.scheduling.scene import scene
from tests.capacity.build import A100, GPU, gpu_node, gpu_pod

NODES = [
    gpu_node("a", 8, labels={"karpenter.sh/nodepool": "blue"}),
    gpu_node("b", 8, unschedulable=True, labels={"karpenter.sh/nodepool": "blue"}),
    gpu_node("c", 4, labels={"nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.memory": "15360"}),
]
PODS = [
    gpu_pod("p", 5, node="a"),
    gpu_pod("q", 2, node="b", namespace="team"),
    gpu_pod("w", 3),
    gpu_pod("v", 1, namespace="team"),
]


ACCOUNTS = gpu_nodes(scene(NODES, PODS), {})


def test_headroom_behind_a_cordon_is_shown_and_not_offered() -> None:
    product = rows(ACCOUNTS, By.PRODUCT)[0]
    assert (product.key, product.nodes, product.physical, product.allocatable) == (A100, 2, 16, 16)
    assert (product.requested, product.headroom, product.locked, product.largest) == (7, 3, 6, 3)
    assert product.lock_texts == ("b: spec.unschedulable is true",)


def test_the_total_promises_the_least_that_any_slot_does() -> None:
    (everything,) = total(ACCOUNTS)
    assert (everything.capacity, everything.headroom, everything.largest, everything.guaranteed_mib) == (
        20,
        7,
        4,
        15360,
    )


def test_pools_come_from_the_labels_that_clouds_write() -> None:
    assert [(row.key, row.nodes) for row in rows(ACCOUNTS, By.POOL)] == [
        ("blue", 2),
        ("unknown", 1),
    ]


def test_a_node_that_advertises_nothing_has_a_row() -> None:
    bare = gpu_node("x", 0, capacity={GPU: "0"})
    (row,) = rows(gpu_nodes(scene([bare], []), {}), By.NODE)
    assert (row.key, row.capacity, row.headroom) == ("x", 0, 0)


def test_namespaces_show_what_they_hold_and_wait_for() -> None:
    shown = {row.key: row for row in namespace_rows(PODS, waiting(PODS))}
    assert (shown["default"].requested, shown["default"].waiting, shown["default"].waiting_pods) == (5, 3, 1)
    assert (shown["team"].requested, shown["team"].waiting) == (2, 1)


def test_gated_finished_and_ending_pods() -> None:
    gated = gpu_pod("g", 4, schedulingGates=[{"name": "queue"}])
    finished = gpu_pod("f", 4, status={"phase": "Failed"})
    assert [(one.pod, one.gated) for one in waiting([gated, finished])] == [("g", True)]


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 12), st.booleans()), min_size=1, max_size=8)
)
def test_every_slot_is_accounted_for_once(drawn: list[tuple[int, int, int, bool]]) -> None:
    nodes = [
        gpu_node(f"n{i}", 8, allocatable={GPU: str(allocatable)}, unschedulable=cordoned)
        for i, (allocatable, _, _, cordoned) in enumerate(drawn)
    ]
    pods = [gpu_pod(f"p{i}", requested, node=f"n{i}") for i, (_, _, requested, _) in enumerate(drawn) if requested]
    for by in (By.NODE, By.PRODUCT, By.POOL):
        for row in rows(gpu_nodes(scene(nodes, pods), {}), by):
            assert row.allocatable == row.requested + row.headroom + row.locked - row.overheld
            assert row.capacity == row.allocatable + row.unhealthy
            assert row.largest <= row.headroom
