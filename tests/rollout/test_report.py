"""What a rollout says: where it stands, what stopped it and the way out."""

from lockgate.rollout.report import Report, report
from lockgate.rollout.values import NodeView
from tests.rollout.test_plan import NOW, node


def said(*nodes: NodeView, by_hand: bool = False) -> Report:
    return report(nodes, NOW, by_hand=by_hand)


def test_it_is_done_when_every_node_is_verified() -> None:
    found = said(node("a", "updated"), node("b", "updated"))
    assert (found.reason, found.message, found.done) == ("", "", True)
    assert found.counts["verified"] == 2


def test_nodes_that_come_up_for_the_first_time_are_no_rollout() -> None:
    found = said(node("a", "updated", toolkit="waiting"), node("b", "changing", toolkit="waiting", pod=None))
    assert (found.reason, found.done) == ("", False)


def test_on_its_way_it_names_the_node_in_change_and_the_next() -> None:
    busy = node("b", "updated", validation="waiting", stale=True)
    found = said(node("a", "updated"), busy, node("c"), node("d"))
    assert found.reason == "RollingOut"
    assert found.message == ("1 of 4 nodes has the new revision and is verified; now b: validation!; next c, d")


def test_the_last_node_is_told_of_until_it_is_verified() -> None:
    found = said(node("a", "updated"), node("b", "updated", validation="waiting", stale=True))
    assert (found.reason, found.done) == ("RollingOut", False)


def test_a_failure_names_the_node_the_finding_who_waits_and_the_way_out() -> None:
    found = said(node("a", "updated"), node("b", "updated", toolkit="failed"), node("c"))
    assert found.reason == "RolloutStopped"
    assert found.message == (
        "b: toolkit!. 1 of 3 nodes has the new revision and is verified; c keeps the old one. "
        "It goes on by itself once b is mended; to go on without it: "
        "kubectl label node b nvidia.com/gpu.deploy.container-toolkit=false --overwrite"
    )


def test_a_toolkit_that_fails_is_told_of_even_when_no_node_waits_for_it() -> None:
    found = said(node("a", "updated"), node("b", "updated", toolkit="failed"))
    assert (found.reason, found.message, found.done) == ("ToolkitFailed", "b: toolkit!", False)
    assert said(node("b", "updated", devices="failed", validation="waiting")).reason == "", (
        "the plugin's and validator's conditions say that"
    )


def test_a_node_that_is_left_alone_is_named_with_what_must_be_mended() -> None:
    found = said(node("a", "updated"), node("b", toolkit="waiting", reachable=False), node("c", devices="failed"))
    assert found.reason == "RolloutHeld"
    assert found.message == (
        "1 of 3 nodes has the new revision and is verified; b keeps the old one until it is mended: toolkit!; "
        "c keeps the old one until it is mended: devices!"
    )
    assert (found.counts["held"], found.counts["outdated"], found.done) == (2, 0, False)


def test_where_a_person_deletes_the_pods_it_says_which() -> None:
    found = said(node("a"), node("b", "updated"), by_hand=True)
    assert found.reason == "RolloutOnDelete"
    assert "; a: delete the toolkit's pod" in found.message


def test_many_nodes_are_counted_not_listed() -> None:
    found = said(node("a", "updated", toolkit="waiting"), *(node(f"n{i:04}") for i in range(5000)))
    assert "next n0000, n0001, n0002 and 4997 more" in found.message
    assert len(found.message) < 300
