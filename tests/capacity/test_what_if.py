"""Actions thought through: what becomes of capacity and of each pod."""

from typing import Any

import pytest

from lockgate.capacity.actions import (
    Action,
    ActionError,
    AddNode,
    Cordon,
    Drain,
    LoseGpus,
    MigConfig,
    Replicas,
    Uncordon,
    apply,
)
from lockgate.capacity.what_if import WhatIf, what_if
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.scene import scene
from tests.capacity.build import A100, GPU, budget, gpu_node, gpu_pod


def outcome(nodes: list[Node], pods: list[Pod], *actions: Action) -> WhatIf:
    return what_if(actions, scene(nodes, pods), pods)


def test_a_cordon_locks_headroom_and_moves_nobody() -> None:
    seen = outcome([gpu_node("a"), gpu_node("b")], [gpu_pod("p", 3, node="a")], Cordon("a"))
    assert (seen.before[0].headroom, seen.after[0].headroom, seen.after[0].locked) == (13, 8, 5)
    assert seen.moved == seen.waiting == ()


def test_a_drain_moves_what_finds_a_place_and_says_who_would_wait() -> None:
    pods = [gpu_pod("large", 6, node="a"), gpu_pod("small", 2, node="a"), gpu_pod("there", 4, node="b")]
    seen = outcome([gpu_node("a"), gpu_node("b")], pods, Drain("a"))
    assert [(f.pod, f.source, f.target) for f in seen.moved] == [("small", "a", "b")]
    assert [f.pod for f in seen.waiting] == ["large"]


def test_a_drain_leaves_daemonsets_keeps_the_marked_and_loses_what_nobody_makes_again() -> None:
    pods = [
        gpu_pod("agent", 0, node="a", owner="DaemonSet"),
        gpu_pod("marked", 1, node="a", annotations={"karpenter.sh/do-not-disrupt": "true"}),
        gpu_pod("bare", 1, node="a", owner=""),
    ]
    seen = outcome([gpu_node("a"), gpu_node("b")], pods, Drain("a"))
    assert ([f.pod for f in seen.kept], [f.pod for f in seen.lost], seen.moved) == (["marked"], ["bare"], ())


READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def guarded(name: str, gpus: int, node: str) -> Pod:
    return gpu_pod(name, gpus, node=node, labels={"app": "x"}, status=READY)


def drained(allowed: int, *pods: Pod) -> WhatIf:
    cluster = scene([gpu_node("a"), gpu_node("b", 4)], pods, budgets=[budget("train", allowed)])
    return what_if([Drain("a")], cluster, pods)


def test_a_budget_that_allows_nothing_keeps_its_pods() -> None:
    seen = drained(0, guarded("p", 1, "a"), gpu_pod("free", 1, node="a"))
    assert [(f.pod, f.reason) for f in seen.kept] == [("p", "PodDisruptionBudget train allows no disruption now")]
    assert [f.pod for f in seen.moved] == ["free"]
    assert seen.after[0].requested == 2


def test_under_a_budget_pods_go_one_after_another_as_long_as_they_find_a_place() -> None:
    seen = drained(1, *[guarded(f"p{i}", 1, "a") for i in range(4)])
    assert (len(seen.moved), seen.waiting, seen.kept) == (4, (), ())


def test_what_finds_no_place_takes_from_its_budget_for_good() -> None:
    seen = drained(1, *[guarded(f"p{i}", 2, "a") for i in range(4)])
    assert (len(seen.moved), [f.pod for f in seen.waiting], [f.pod for f in seen.kept]) == (2, ["p2"], ["p3"])
    assert seen.kept[0].reason == "PodDisruptionBudget train allows 1, and no node takes more"
    assert seen.after[0].requested == 6


def test_a_node_is_not_re_partitioned_while_a_budget_keeps_a_pod_there() -> None:
    pods = [guarded("p", 1, "a"), guarded("q", 1, "a")]
    nodes = [gpu_node("a", 2, labels={"nvidia.com/mig.strategy": "mixed"})]
    for allowed, words in ((0, "train allows no disruption"), (1, "train allows 1, and no node takes more")):
        cluster = scene(nodes, pods, budgets=[budget("train", allowed)])
        with pytest.raises(ActionError, match=words):
            what_if([MigConfig("a", "all-3g.20gb")], cluster, pods)


def test_budgets_that_were_not_read_are_said() -> None:
    assert any("budgets" in text for text in outcome([gpu_node("a")], [], Cordon("a")).left_out)
    assert not any("budgets" in text for text in drained(1).left_out)


def test_urgent_pods_find_a_place_first() -> None:
    pods = [gpu_pod("usual", 8, node="a"), gpu_pod("urgent", 4, node="b", priority=100)]
    nodes = [gpu_node("a"), gpu_node("b", 4), gpu_node("c", 8)]
    seen = outcome(nodes, pods, Drain("a"), Drain("b"))
    assert [f.pod for f in seen.moved] == ["urgent"]


def test_slicing_multiplies_slots_and_guarantees_nothing() -> None:
    seen = outcome([gpu_node("a", 2)], [gpu_pod("wants", 3)], Replicas("a", 4))
    assert (seen.before[0].capacity, seen.after[0].capacity) == (2, 8)
    assert (seen.before[0].guaranteed_mib, seen.after[0].guaranteed_mib) == (40960, 0)
    assert [f.pod for f in seen.started] == ["wants"]


def test_slicing_again_starts_from_the_devices_not_from_the_slots() -> None:
    labels = {"nvidia.com/gpu.replicas": "4"}
    seen = outcome([gpu_node("a", 8, labels=labels)], [], Replicas("a", 2))
    assert seen.after[0].capacity == 4


def test_lost_gpus_leave_capacity_and_shrink_allocatable() -> None:
    seen = outcome([gpu_node("a", 8)], [gpu_pod("p", 7, node="a")], LoseGpus("a", 2))
    row = seen.after[0]
    assert (row.capacity, row.allocatable, row.overheld) == (8, 6, 1)


def test_a_new_node_is_like_those_of_its_product_and_empty() -> None:
    full = [gpu_pod("p", 8, node="a")]
    seen = outcome([gpu_node("a", allocatable={GPU: "7"})], [*full, gpu_pod("wants", 8)], AddNode(A100))
    assert [(f.pod, f.target) for f in seen.started] == [("wants", "new-1")]


def test_a_new_node_has_whole_gpus_where_any_of_its_product_has() -> None:
    cut = gpu_node("a", 2, capacity={GPU: "0", "nvidia.com/mig-1g.5gb": "14"})
    seen = outcome([cut, gpu_node("b", 2)], [], AddNode(A100))
    assert {row.resource: row.capacity for row in seen.after} == {GPU: 4, "nvidia.com/mig-1g.5gb": 14}


def test_re_partitioning_sends_gpu_pods_away_first() -> None:
    node = gpu_node("a", 2, labels={"nvidia.com/mig.strategy": "mixed"})
    pods = [gpu_pod("whole", 1, node="a"), gpu_pod("wants", 1, resource="nvidia.com/mig-3g.20gb")]
    seen = outcome([node, gpu_node("b", 1)], pods, MigConfig("a", "all-3g.20gb"))
    assert [(f.pod, f.target) for f in seen.moved] == [("whole", "b")]
    assert [(f.pod, f.target) for f in seen.started] == [("wants", "a")]


def test_actions_are_taken_in_their_order() -> None:
    nodes, pods = [gpu_node("a"), gpu_node("b", unschedulable=True)], [gpu_pod("p", 8, node="a")]
    assert outcome(nodes, pods, Uncordon("b"), Drain("a")).moved[0].target == "b"


def test_pods_that_would_start_anyway_are_not_credited() -> None:
    assert outcome([gpu_node("a")], [gpu_pod("wants", 1)], AddNode(A100)).started == ()


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Cordon("x"), 'there is no node "x"'),
        (AddNode("H100"), f'no node has the product "H100" to copy; there is {A100}'),
        (LoseGpus("a", 9), "node a has fewer than 9 healthy GPUs"),
        (MigConfig("a", "all-9g.99gb"), 'node a cannot become "all-9g.99gb"'),
    ],
)
def test_what_cannot_be_thought_through_is_said(action: Any, words: str) -> None:
    with pytest.raises(ActionError, match=words):
        apply(action, scene([gpu_node("a")], []))
