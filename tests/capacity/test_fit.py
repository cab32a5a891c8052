"""Does it fit, where, what blocks each node, and what would help: each change is one that the model has tried."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.capacity.ask import asking
from lockgate.capacity.change import ChangeKind
from lockgate.capacity.copies import place_copies
from lockgate.capacity.fit import Fit, fit
from lockgate.model.objects import PriorityClass
from lockgate.scheduling.filters import place
from lockgate.scheduling.scene import scene
from tests.capacity.build import A100, GPU, cpu_node, gpu_node, gpu_pod

TAINT = {"key": "sku", "value": "gpu", "effect": "NoSchedule"}


def test_copies_go_to_the_fullest_nodes_so_that_large_gaps_stay_whole() -> None:
    cluster = scene([gpu_node("a", 8), gpu_node("b", 8)], [gpu_pod("held", 5, node="b")])
    answer = fit(gpu_pod("ask", 1), cluster, copies=4)
    assert (answer.fits, answer.where) == (True, {"a": 1, "b": 3})
    assert (answer.blockers, answer.changes) == ((), ())


def test_blockers_are_counted_and_named_and_only_on_gpu_nodes() -> None:
    nodes = [gpu_node("a", 8, unschedulable=True), gpu_node("b", 8, taints=[TAINT]), gpu_node("c", 2), cpu_node("d")]
    answer = fit(gpu_pod("ask", 4), scene(nodes, []))
    assert (answer.copies, answer.gpu_nodes, answer.other_nodes) == (0, 3, 1)
    assert {blocker.text: blocker.nodes for blocker in answer.blockers} == {
        "cordoned": ("a",),
        "taint sku=gpu:NoSchedule is not tolerated": ("b",),
        f"{GPU}: 4 asked, 2 left of 2": ("c",),
    }


def test_a_node_with_two_reasons_is_alone_for_neither() -> None:
    answer = fit(gpu_pod("ask", 4), scene([gpu_node("a", 2, unschedulable=True)], []))
    assert all(blocker.alone == () for blocker in answer.blockers)


@pytest.mark.parametrize(
    ("node", "ask", "kind", "words"),
    [
        (gpu_node("a", unschedulable=True), {}, ChangeKind.UNCORDON, "uncordon node a"),
        (gpu_node("a", taints=[TAINT]), {}, ChangeKind.TOLERATE, "let the pod tolerate sku=gpu:NoSchedule"),
        (
            gpu_node("a"),
            {"nodeSelector": {"nvidia.com/gpu.product": "H100"}},
            ChangeKind.SELECT,
            f"select nvidia.com/gpu.product={A100} instead of H100",
        ),
    ],
)
def test_one_change_that_is_enough(node: Any, ask: dict[str, Any], kind: ChangeKind, words: str) -> None:
    change = fit(gpu_pod("ask", 2, **ask), scene([node], []), copies=2).changes[0]
    assert (change.kind, change.text, change.copies) == (kind, words, 2)


@pytest.mark.parametrize("key", ["unreachable", "not-ready", "disk-pressure"])
def test_no_pod_is_told_to_tolerate_that_a_node_is_not_well(key: str) -> None:
    sick = {"key": f"node.kubernetes.io/{key}", "effect": "NoSchedule"}
    answer = fit(gpu_pod("ask", 1), scene([gpu_node("a", taints=[sick]), gpu_node("b", taints=[sick, TAINT])], []))
    assert answer.changes == ()
    assert f"taint node.kubernetes.io/{key}:NoSchedule is not tolerated" in [b.text for b in answer.blockers]


def moves(answer: Fit) -> list[list[tuple[str, str, str]]]:
    found = [change for change in answer.changes if change.kind is ChangeKind.MOVE]
    return [[(move.pod, move.source, move.target) for move in change.moves] for change in found]


def test_the_fewest_pods_are_moved() -> None:
    pods = [gpu_pod("one", 2, node="a"), *[gpu_pod(f"many{i}", 1, node="b") for i in range(4)]]
    cluster = scene([gpu_node("a", 8), gpu_node("b", 8)], pods)
    assert moves(fit(gpu_pod("ask", 8), cluster)) == [[("one", "a", "b")]]


def test_moving_frees_four_that_lie_in_pieces() -> None:
    pods = [gpu_pod("p1", 2, node="a"), gpu_pod("p2", 2, node="b")]
    cluster = scene([gpu_node("a", 4), gpu_node("b", 4)], pods)
    assert moves(fit(gpu_pod("ask", 4), cluster)) == [[("p1", "a", "b")]]


def test_pods_without_another_place_are_not_moved() -> None:
    pods = [gpu_pod("p1", 3, node="a"), gpu_pod("p2", 3, node="b")]
    assert moves(fit(gpu_pod("ask", 4), scene([gpu_node("a", 4), gpu_node("b", 4)], pods))) == []


@pytest.mark.parametrize(
    "fields", [{"owner": "DaemonSet"}, {"owner": ""}, {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}]
)
def test_some_pods_are_never_moved(fields: dict[str, Any]) -> None:
    cluster = scene([gpu_node("a", 4), gpu_node("b", 1)], [gpu_pod("held", 1, node="a", **fields)])
    kinds = [change.kind for change in fit(gpu_pod("ask", 4), cluster).changes]
    assert kinds == [ChangeKind.ASK_LESS]


def test_a_cordon_is_one_blocker_and_hides_no_taint_behind_its_own() -> None:
    cordon = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    mine = {"key": "team", "value": "ml", "effect": "NoSchedule"}
    answer = fit(gpu_pod("ask", 1), scene([gpu_node("a", unschedulable=True, taints=[cordon, mine])], []))
    assert [blocker.text for blocker in answer.blockers] == ["cordoned", "taint team=ml:NoSchedule is not tolerated"]
    alone = fit(gpu_pod("ask", 1), scene([gpu_node("a", unschedulable=True, taints=[cordon])], []))
    assert [(blocker.text, blocker.alone) for blocker in alone.blockers] == [("cordoned", ("a",))]


def test_pods_that_are_not_moved_are_counted_with_the_reason() -> None:
    pods = [gpu_pod("bare", 1, node="a", owner=""), gpu_pod("ds", 1, node="a", owner="DaemonSet")]
    answer = fit(gpu_pod("ask", 4), scene([gpu_node("a", 4), gpu_node("b", 1)], pods, budgets=[]))
    assert answer.left_out[1] == (
        "not moved: 1 pod of a DaemonSet, or static: it belongs to its node, "
        "1 pod without a controller: nobody would make it again"
    )


def test_nothing_is_said_of_pods_that_stay_when_none_holds_what_is_asked_for() -> None:
    pods = [gpu_pod("ds", 0, node="a", owner="DaemonSet")]
    assert fit(gpu_pod("ask", 8), scene([gpu_node("a", 4)], pods, budgets=[])).left_out == (
        "quotas, LimitRanges, webhooks",
    )


def test_budgets_that_were_not_read_are_said() -> None:
    pods, nodes = [gpu_pod("held", 4, node="a")], [gpu_node("a", 4)]
    assert any("budgets, which were not read" in text for text in fit(gpu_pod("ask", 4), scene(nodes, pods)).left_out)
    assert not any("budgets" in t for t in fit(gpu_pod("ask", 4), scene(nodes, pods, budgets=[])).left_out)


def test_as_few_nodes_as_are_enough_are_changed_together() -> None:
    nodes = [gpu_node(name, size, unschedulable=True) for name, size in (("a", 2), ("b", 8), ("c", 4), ("d", 1))]
    answer = fit(gpu_pod("ask", 1), scene(nodes, []), copies=11)
    first = answer.changes[0]
    assert (first.kind, first.copies) == (ChangeKind.TOGETHER, 11)
    assert first.text == "uncordon node b and uncordon node c"
    assert first.command.splitlines() == ["kubectl uncordon b", "kubectl uncordon c"]


def test_where_changed_nodes_are_not_enough_pods_move_as_well() -> None:
    pods = [gpu_pod("p", 1, node="a"), gpu_pod("q", 1, node="b", owner="")]
    nodes = [gpu_node("a", 4), gpu_node("b", 4), gpu_node("c", 4, unschedulable=True)]
    answer = fit(gpu_pod("ask", 4), scene(nodes, pods), copies=2)
    (both,) = [change for change in answer.changes if change.kind is ChangeKind.TOGETHER]
    assert (both.text, both.copies) == ("uncordon node c and move a pod: default/p from a to b", 2)
    assert [move.pod for move in both.moves] == ["p"]


def test_moves_come_with_commands_that_keep_the_pods_away() -> None:
    pods = [gpu_pod("p1", 2, node="a"), gpu_pod("p2", 2, node="b", owner="DaemonSet")]
    answer = fit(gpu_pod("ask", 4), scene([gpu_node("a", 4), gpu_node("b", 4)], pods))
    (move,) = [change for change in answer.changes if change.kind is ChangeKind.MOVE]
    assert move.command.splitlines() == ["kubectl cordon a", "kubectl delete pod -n default p1", "kubectl uncordon a"]


def changed(answer: Fit, kind: ChangeKind) -> list[tuple[str, int]]:
    return [(change.text, change.copies) for change in answer.changes if change.kind is kind]


def test_what_the_scheduler_evicts_by_itself_is_said_first() -> None:
    pods = [gpu_pod("low", 4, node="a", priority=-1), gpu_pod("p", 4, node="a", priority=5)]
    pods += [gpu_pod("q", 8, node="b", priority=-1)]
    ask = gpu_pod("ask", 4, priority=0)
    answer = fit(ask, scene([gpu_node("a"), gpu_node("b")], pods, budgets=[]), copies=3)
    first = "default/low on a; default/q on b"
    text = f"nothing to do: the scheduler evicts 2 pods of lower priority: {first}, or as many elsewhere"
    assert changed(answer, ChangeKind.PREEMPT) == [(text, 3)]
    assert answer.changes[0].kind is ChangeKind.PREEMPT
    never = gpu_pod("ask", 4, priority=0, preemptionPolicy="Never")
    assert changed(fit(never, scene([gpu_node("a")], pods[:2])), ChangeKind.PREEMPT) == []


def test_a_priority_class_is_known_from_pods_that_have_it() -> None:
    pods = [
        gpu_pod("low", 8, node="a", priority=0),
        gpu_pod("x", 0, node="a", priorityClassName="urgent", priority=7),
    ]
    cluster = scene([gpu_node("a")], pods)
    assert changed(fit(gpu_pod("ask", 8, priorityClassName="urgent"), cluster), ChangeKind.PREEMPT)
    answer = fit(gpu_pod("ask", 8, priorityClassName="other"), cluster)
    assert not changed(answer, ChangeKind.PREEMPT)
    assert "preemption: the priority of class other is not known" in answer.left_out


SLICED = {"nvidia.com/gpu.replicas": "5", "nvidia.com/gpu.sharing-strategy": "time-slicing"}


def test_priority_and_policy_come_from_the_class_and_from_the_default_class() -> None:
    classes = [
        msgspec.convert({"metadata": {"name": "urgent"}, "value": 7}, PriorityClass),
        msgspec.convert({"metadata": {"name": "usual"}, "value": 3, "globalDefault": True}, PriorityClass),
        msgspec.convert({"metadata": {"name": "meek"}, "value": 9, "preemptionPolicy": "Never"}, PriorityClass),
    ]
    pods = [gpu_pod("low", 8, node="a", priority=5)]
    cluster = scene([gpu_node("a")], pods, priorities=classes)
    evicting = {
        name: bool(changed(fit(gpu_pod("ask", 8, priorityClassName=name), cluster), ChangeKind.PREEMPT))
        for name in ("urgent", "", "meek", "system-node-critical")
    }
    assert evicting == {"urgent": True, "": False, "meek": False, "system-node-critical": True}


def test_what_shared_slots_are_worth_is_said_with_the_place() -> None:
    answer = fit(gpu_pod("ask", 1), scene([gpu_node("a", 5, labels=SLICED)], []))
    (shared,) = answer.shared
    assert (answer.fits, shared.nodes) == (True, ("a",))
    assert "5 slots share one GPU of 40 GiB: 0 is guaranteed" in shared.text
    assert fit(gpu_pod("ask", 1), scene([gpu_node("a", 5)], [])).shared == ()


def test_memory_that_is_asked_for_is_not_found_in_shared_slots() -> None:
    cluster = scene([gpu_node("a", 5, labels=SLICED)], [])
    assert not fit(asking("default", gpus=1, memory="20Gi"), cluster).fits
    assert fit(asking("default", gpus=1, memory="20Gi"), scene([gpu_node("a", 5)], [])).fits


def test_asking_for_less_names_the_largest_that_fits() -> None:
    cluster = scene([gpu_node("a", 8)], [gpu_pod("held", 5, node="a", owner="DaemonSet")])
    (change,) = fit(gpu_pod("ask", 8), cluster).changes
    assert (change.text, change.copies) == (f"ask for 3 {GPU} instead of 8", 1)


def test_nothing_is_offered_when_nothing_helps() -> None:
    assert fit(gpu_pod("ask", 1), scene([cpu_node("a")], [])).changes == ()


def test_limits_without_requests_are_read_as_the_api_server_would() -> None:
    ask = gpu_pod("ask", 8, requests={})
    assert fit(ask, scene([gpu_node("a", 4)], [])).asked == {GPU: 8}


def test_copies_that_notice_each_other_are_placed_one_by_one_and_it_is_said() -> None:
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
    ask = gpu_pod("ask", 1, labels={"app": "x"}, topologySpreadConstraints=[spread])
    answer = fit(ask, scene([gpu_node("a", 8), gpu_node("b", 2)], []), copies=8)
    assert answer.where == {"a": 3, "b": 2}
    assert any("another order" in text for text in answer.left_out)


NODES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.booleans()), min_size=1, max_size=5)


@settings(max_examples=60)
@given(nodes=NODES, size=st.integers(1, 6), copies=st.integers(1, 6))
def test_what_is_said_to_fit_can_be_bound_pod_by_pod(
    nodes: list[tuple[int, int, bool]], size: int, copies: int
) -> None:
    cluster = scene(
        [gpu_node(f"n{i}", gpus, unschedulable=cordoned) for i, (gpus, _, cordoned) in enumerate(nodes)],
        [gpu_pod(f"h{i}", min(held, gpus), node=f"n{i}") for i, (gpus, held, _) in enumerate(nodes) if min(held, gpus)],
    )
    ask = gpu_pod("ask", size)
    for name, count in place_copies(ask, cluster, copies).where.items():
        for _ in range(count):
            assert name in place(ask, cluster).nodes_that_fit
            cluster = cluster.with_pod(ask, name)
    placed = place_copies(ask, cluster, 1).count
    assert (placed == 1) == bool(place(ask, cluster).nodes_that_fit)
