"""Nodes that only a description shows: their own sums are what is requested, and what pods would tell is not known."""

import pytest

from lockgate.capacity.overview import UnreadableError, accounts, is_requested_known, overview
from lockgate.capacity.table import By
from lockgate.model import names
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.objects import Metadata, Node, NodeStatus
from lockgate.model.told import ToldNode

NOT_SHOWN = Missing("a description of a node does not show it", "kubectl get pods -A -o json")


def node(name: str, requested: str) -> ToldNode:
    amounts = {names.GPU: "8", "pods": "110"}
    return ToldNode(
        metadata=Metadata(name=name),
        status=NodeStatus(capacity=amounts, allocatable=amounts),
        requested={names.GPU: requested} if requested else {},
        pods=("x/a", "x/b"),
    )


def facts(*nodes: Node) -> Snapshot:
    return Snapshot(nodes=nodes, pods=NOT_SHOWN)


def test_what_is_requested_is_the_sum_of_the_description() -> None:
    seen = overview(facts(node("a", "3"), node("b", "8")), By.NODE)
    assert [(row.key, row.requested, row.headroom) for row in seen.rows] == [("a", 3, 5), ("b", 8, 0)]
    assert (seen.waiting, seen.namespaces) == ((), ())
    assert any("pod by pod: a description of a node does not show it" in text for text in seen.unknown)


@pytest.mark.parametrize("other", [node("b", ""), Node(metadata=Metadata(name="b"), status=node("b", "1").status)])
def test_one_node_without_a_sum_leaves_its_numbers_unknown(other: Node) -> None:
    seen = overview(facts(node("a", "3"), other), By.NODE)
    assert [(row.key, row.requested, row.headroom) for row in seen.rows] == [("a", 3, 5), ("b", None, None)]
    assert [(row.allocatable, row.requested) for row in seen.total] == [(16, None)]
    assert any("what is requested on 1 GPU node is unknown" in text for text in seen.unknown)


def test_pods_that_were_not_read_may_hold_what_a_node_does_not_offer_any_more() -> None:
    gone = Node(metadata=Metadata(name="b"), status=NodeStatus(capacity={names.GPU: "8"}, allocatable={names.GPU: "0"}))
    seen = overview(facts(node("a", "3"), gone), By.NODE)
    assert [(row.key, row.requested, row.overheld) for row in seen.rows] == [("a", 3, 0), ("b", None, None)]
    assert [(row.allocatable, row.requested) for row in seen.total] == [(8, None)]


def test_the_accounts_of_nodes_stand_all_the_same_and_one_is_known_to_lack_its_sum() -> None:
    seen = facts(node("a", "3"), node("b", ""))
    assert [(a.node, a.slots[0].requested) for a in accounts(seen)] == [("a", 3), ("b", 0)]
    assert not isinstance(seen.nodes, Missing)
    assert [is_requested_known(each, seen) for each in seen.nodes] == [True, False]


def test_a_node_without_gpus_needs_no_sum() -> None:
    assert [row.key for row in overview(facts(node("a", "3"), Node(metadata=Metadata(name="cpu"))), By.NODE).rows] == [
        "a"
    ]


def test_rows_by_namespace_need_the_pods() -> None:
    with pytest.raises(UnreadableError):
        overview(facts(node("a", "3")), By.NAMESPACE)
