"""Moves over several nodes: as few as the puzzle has, allowed by whoever guards the pods, and true in the model."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.capacity.cluster_puzzle import MOST_NODES, unbound
from lockgate.capacity.copies import place_copies
from lockgate.capacity.eviction import Why
from lockgate.capacity.moves import Moves, Search, least_moves
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.filters import place
from lockgate.scheduling.scene import Scene, key, scene
from tests.capacity.build import GPU, budget, gpu_node, gpu_pod

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
HOST = "kubernetes.io/hostname"


def plan(found: Search) -> list[tuple[str, str, str]]:
    return [] if found.found is None else [(m.pod, m.source, m.target) for m in found.found.moves]


def wanted(copies: int, size: int, nodes: list[Node], pods: list[Pod], **more: Any) -> Search:
    return least_moves(gpu_pod("ask", size), scene(nodes, pods, **more), copies)


def test_two_copies_take_one_move_each_on_nodes_of_their_own() -> None:
    """Four nodes of 8 with 2 held each, two copies of 8: two pods leave, and both find room."""
    nodes = [gpu_node(f"n{i}") for i in range(4)]
    found = wanted(2, 8, nodes, [gpu_pod(f"p{i}", 2, node=f"n{i}") for i in range(4)])
    assert len(plan(found)) == 2
    assert found.found is not None and found.found.fewest and found.found.copies == 2


def test_a_pod_makes_room_for_one_that_makes_room() -> None:
    nodes = [gpu_node("a", 4), gpu_node("b", 4), gpu_node("c", 4)]
    pods = [gpu_pod("two", 2, node="a"), gpu_pod("one", 1, node="b"), gpu_pod("x", 2, node="b", owner="")]
    pods += [gpu_pod("held", 3, node="c", owner="DaemonSet")]
    assert sorted(plan(wanted(1, 4, nodes, pods))) == [("one", "b", "c"), ("two", "a", "b")]


def test_where_all_copies_cannot_be_had_as_many_as_can() -> None:
    nodes = [gpu_node("a", 4), gpu_node("b", 4)]
    pods = [gpu_pod("p", 2, node="a"), gpu_pod("q", 2, node="b")]
    found = wanted(2, 4, nodes, pods).found
    assert found is not None and (found.copies, len(found.moves)) == (1, 1)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"owner": "DaemonSet"}, Why.OF_ITS_NODE),
        ({"owner": "Node"}, Why.OF_ITS_NODE),
        ({"owner": ""}, Why.BARE),
        ({"annotations": {"karpenter.sh/do-not-disrupt": "true"}}, Why.MARKED),
        ({"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}, Why.MARKED),
        ({"labels": {"app": "x"}, "status": READY}, Why.GUARDED),
        ({"resourceClaims": [{"name": "gpu"}]}, Why.TIED),
    ],
    ids=lambda value: value.name if isinstance(value, Why) else None,
)
def test_pods_that_stay_are_counted_by_the_reason(fields: dict[str, Any], why: Why) -> None:
    nodes = [gpu_node("a", 4), gpu_node("b", 1)]
    found = wanted(1, 4, nodes, [gpu_pod("held", 1, node="a", **fields)], budgets=[budget("b", 0)])
    assert (found.found, dict(found.held)) == (None, {why: 1})


def test_no_more_pods_leave_at_once_than_their_budget_allows() -> None:
    nodes = [gpu_node("a", 4), gpu_node("b", 4)]
    pods = [gpu_pod(f"p{i}", 1, node="a", labels={"app": "x"}, status=READY) for i in range(2)]
    pods += [gpu_pod("q", 1, node="b", owner="")]
    assert wanted(1, 4, nodes, pods, budgets=[budget("b", 1)]).found is None
    assert len(plan(wanted(1, 4, nodes, pods, budgets=[budget("b", 2)]))) == 2


def test_a_pod_goes_only_where_its_own_filters_let_it() -> None:
    nodes = [gpu_node("a", 4), gpu_node("b", 4, labels={"zone": "z2"}), gpu_node("c", 4, labels={"zone": "z1"})]
    held = [gpu_pod("p", 2, node="a", nodeSelector={"zone": "z1"}), gpu_pod("q", 4, node="b", owner="")]
    assert plan(wanted(1, 4, nodes[:2], held)) == []
    assert plan(wanted(1, 4, nodes, [*held, gpu_pod("r", 1, node="c", owner="")])) == [("p", "a", "c")]


def test_a_pod_that_holds_no_gpu_moves_when_it_is_in_the_way() -> None:
    hog = gpu_pod("hog", 0, node="a", requests={"cpu": "60"})
    ask = gpu_pod("ask", 4, requests={"cpu": "8"})
    assert plan(least_moves(ask, scene([gpu_node("a", 4), gpu_node("b", 0)], [hog]), 1)) == [("hog", "a", "b")]


def test_one_more_copy_of_pods_that_notice_each_other() -> None:
    apart = {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": HOST}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    ask = gpu_pod("ask", 4, labels={"app": "a"}, affinity={"podAntiAffinity": {required: [apart]}})
    cluster = scene([gpu_node("a", 4), gpu_node("b", 4), gpu_node("c", 3)], [gpu_pod("p", 2, node="b")])
    found = least_moves(ask, cluster, 2)
    assert plan(found) == [("p", "b", "c")]
    assert found.found is not None and found.found.copies == 2


def test_a_plan_that_takes_the_pods_company_away_is_none() -> None:
    """It wants to be beside `x`, and only moving `x` away would make room."""
    beside = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": HOST}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [beside]}
    ask = gpu_pod("ask", 4, affinity={"podAffinity": required})
    cluster = scene([gpu_node("a", 4), gpu_node("b", 4)], [gpu_pod("x", 2, node="a", labels={"app": "x"})])
    assert least_moves(ask, cluster, 1).found is None


def test_of_a_large_cluster_only_some_nodes_take_part_and_it_is_said() -> None:
    nodes = [gpu_node(f"n{i:03}", 4) for i in range(MOST_NODES + 20)]
    found = wanted(3, 4, nodes, [gpu_pod(f"p{i:03}", 2, node=f"n{i:03}") for i in range(len(nodes))])
    assert len(plan(found)) == 3
    assert found.found is not None and not found.found.fewest
    assert found.note == f"pods were moved among {MOST_NODES} of {len(nodes)} nodes"


SLICED = {"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "time-slicing"}


def test_pods_move_among_nodes_of_their_sort_where_they_can_and_else_it_is_said() -> None:
    sliced, other = gpu_node("b", 4, labels=SLICED), gpu_node("d", 4, labels={"nvidia.com/gpu.product": "T4"})
    pods = [gpu_pod("p", 2, node="a"), gpu_pod("q", 3, node="c", owner="")]
    found = wanted(1, 4, [gpu_node("a", 4), sliced, gpu_node("c", 5)], [*pods, gpu_pod("x", 1, node="b", owner="")])
    assert plan(found) == [("p", "a", "c")]
    assert found.found is not None and found.found.moves[0].loses == ""
    alike = [gpu_node("a", 4), gpu_node("b", 3, labels=SLICED), gpu_node("c", 3)]
    assert plan(wanted(1, 4, alike, pods[:1])) == [("p", "a", "c")]
    for node, loses in ((sliced, "slots that share a GPU"), (other, "a T4")):
        found = wanted(1, 4, [gpu_node("a", 4), node], [*pods[:1], gpu_pod("x", 1, node=node.name, owner="")])
        assert found.found is not None and found.found.moves[0].loses == loses


CLUSTERS = st.lists(
    st.tuples(st.integers(1, 8), st.lists(st.integers(1, 4), max_size=4), st.booleans()), min_size=2, max_size=5
)


@settings(max_examples=80, deadline=None)
@given(CLUSTERS, st.integers(1, 8), st.integers(1, 3))
def test_what_is_said_of_moves_can_be_done_pod_by_pod(
    nodes: list[tuple[int, list[int], bool]], size: int, copies: int
) -> None:
    views = [gpu_node(f"n{i}", total, unschedulable=closed) for i, (total, _, closed) in enumerate(nodes)]
    pods = [
        gpu_pod(f"p{i}-{j}", held, node=f"n{i}")
        for i, (total, sizes, _) in enumerate(nodes)
        for j, held in enumerate(sizes)
        if sum(sizes[: j + 1]) <= total
    ]
    cluster, ask = scene(views, pods), gpu_pod("ask", size)
    if (found := least_moves(ask, cluster, copies).found) is not None:
        assert place_copies(ask, cluster, copies).count < found.copies <= copies
        done = _done(found, cluster, pods)
        for _ in range(found.copies):
            node = min(place(ask, done).nodes_that_fit, key=lambda name: done.nodes[name].room.headroom(GPU))
            done = done.with_pod(ask, node)


def _done(found: Moves, cluster: Scene, pods: list[Pod]) -> Scene:
    """The cluster after all pods of the plan have left, and each was bound to its target if all filters agree."""
    by_name = {pod.name: pod for pod in pods}
    for move in found.moves:
        cluster = cluster.without_pods(move.source, [key(by_name[move.pod])])
    for move in found.moves:
        free = unbound(by_name[move.pod])
        assert move.target in place(free, cluster).nodes_that_fit
        cluster = cluster.with_pod(free, move.target)
    return cluster
