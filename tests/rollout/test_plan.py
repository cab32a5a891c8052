"""The order of nodes, what stops a rollout, what it does to each node."""

import datetime as dt
from typing import Any

import pytest

from lockgate.rollout.budget import parse_budget
from lockgate.rollout.plan import next_steps
from lockgate.rollout.standing import standing
from lockgate.rollout.values import PATIENCE, STAGES, NodeView, Ref, Restart, Revalidate, Step, Verdict

NOW = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
JUST = NOW - dt.timedelta(seconds=5)
LONG = NOW - PATIENCE - dt.timedelta(seconds=1)


def node(name: str, place: Any = "outdated", since: dt.datetime = JUST, **given: Any) -> NodeView:
    """A healthy node; `toolkit="failed"` and the like change a verdict."""
    outcomes = {stage: given.pop(stage, "passed") for stage in STAGES}
    verdicts = tuple(Verdict(stage=stage, outcome=outcome, text=f"{stage}!") for stage, outcome in outcomes.items())
    pods = {"pod": Ref(name=f"toolkit-{name}", uid="t"), "validator": Ref(name=f"validator-{name}", uid="v")}
    return NodeView(name=name, place=place, verdicts=verdicts, since=since, **{**pods, **given})


def steps(*nodes: NodeView, budget: int = 1) -> list[Step]:
    return list(next_steps(nodes, budget, NOW))


def restarted(*nodes: NodeView, budget: int = 1) -> list[str]:
    return [step.node for step in steps(*nodes, budget=budget) if isinstance(step, Restart)]


def test_one_after_the_other_by_name_and_so_many_at_once_as_the_budget_allows() -> None:
    assert restarted(node("b"), node("a"), node("c")) == ["a"]
    assert restarted(node("b"), node("a"), node("c"), budget=2) == ["a", "b"]
    assert restarted(node("a", "updated"), node("b"), node("c")) == ["b"]


@pytest.mark.parametrize("stage", STAGES)
def test_a_node_that_is_not_verified_yet_keeps_its_slot(stage: str) -> None:
    busy = node("a", "updated", **{"validation": "waiting", stage: "waiting"})
    assert restarted(busy, node("b")) == []
    assert restarted(busy, node("b"), node("c"), budget=2) == ["b"]


def test_a_pod_that_has_left_and_not_come_back_keeps_its_slot() -> None:
    assert restarted(node("a", "changing", toolkit="waiting", pod=None), node("b")) == []
    assert restarted(node("a", "changing"), node("b")) == [], "whatever is said of it"


@pytest.mark.parametrize("stage", STAGES)
def test_the_first_failure_stops_it_whatever_the_budget(stage: str) -> None:
    not_yet = {"stale": True, "validation": "waiting"}
    assert restarted(node("a", "updated", **{**not_yet, stage: "failed"}), node("b"), budget=10) == []
    assert restarted(node("a", "updated", **{**not_yet, stage: "waiting"}, since=LONG), node("b"), budget=10) == []


def test_a_node_that_lost_its_gpus_after_it_was_verified_stops_nothing() -> None:
    assert restarted(node("a", "updated", devices="failed"), node("b")) == ["b"]
    assert restarted(node("a", "updated", devices="failed", validator=None), node("b")) == [], "nobody has proved it"


def test_nothing_is_left_to_do_when_every_node_has_the_revision() -> None:
    assert steps(node("a", "updated"), node("b", "updated")) == []
    assert steps() == []


def test_a_node_whose_toolkit_an_older_revision_left_unfinished_comes_first() -> None:
    assert restarted(node("a"), node("b", toolkit="failed")) == ["b"]
    assert restarted(node("a"), node("b", toolkit="waiting")) == ["b"]
    assert restarted(node("a", toolkit="failed"), node("b", toolkit="waiting")) == ["b"], "b is in change already"


def test_a_node_that_an_older_revision_is_busy_with_counts_against_the_budget() -> None:
    assert restarted(node("a"), node("b", validation="waiting"), node("c"), budget=2) == ["b", "a"]
    busy = node("b", validation="waiting", pod=None)
    assert restarted(node("a"), busy, node("c"), budget=2) == ["a"]


@pytest.mark.parametrize("stage", ["devices", "validation"])
def test_a_node_that_fails_for_reasons_of_its_own_is_left_alone_and_holds_up_nobody(stage: str) -> None:
    failing = node("a", **{stage: "failed"})
    assert restarted(failing, node("b")) == ["b"]
    assert restarted(failing, node("b", "updated"), budget=10) == []


def test_a_failing_toolkit_is_replaced_by_the_next_one() -> None:
    assert restarted(node("a", toolkit="failed", devices="failed")) == ["a"]


def test_a_node_that_is_not_ready_keeps_its_turn_and_holds_up_nobody() -> None:
    away = node("a", toolkit="waiting", reachable=False)
    assert restarted(away, node("b")) == ["b"]
    assert restarted(away) == []


def test_the_validator_runs_again_after_the_toolkit_and_not_before() -> None:
    stale = {"stale": True, "validation": "waiting"}
    assert steps(node("a", "updated", **stale)) == [Revalidate(node="a", pod=Ref(name="validator-a", uid="v"))]
    assert steps(node("a", "updated", **stale, toolkit="waiting")) == []
    assert steps(node("a", "updated", **stale, devices="failed")) == []
    assert steps(node("a", "changing", **stale, toolkit="waiting")) == []


def test_a_node_is_validated_again_while_another_has_stopped_the_rollout() -> None:
    found = steps(node("a", "updated", stale=True, validation="waiting"), node("b", "updated", toolkit="failed"))
    assert [type(step) for step in found] == [Revalidate]


def test_waiting_has_an_end() -> None:
    assert standing(node("a", "updated", toolkit="waiting"), NOW).state == "busy"
    late = standing(node("a", "updated", toolkit="waiting", since=LONG), NOW)
    assert (late.state, late.text) == ("failed", "toolkit! for more than 5 minutes")
    assert standing(node("a", "updated", toolkit="waiting", since=None), NOW).state == "busy"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "nodes", "budget"),
    [("", 9, 1), ("1", 9, 1), ("3", 9, 3), ("25%", 9, 3), ("25%", 8, 2), ("0", 9, 1), ("0%", 9, 1), ("100%", 9, 9)],
)
def test_the_budget_is_a_number_or_a_percentage_rounded_up_and_at_least_one(text: str, nodes: int, budget: int) -> None:
    assert parse_budget(text, nodes) == budget


def test_a_budget_that_cannot_be_read_is_the_careful_one() -> None:
    assert [parse_budget(text, 9) for text in ("many", "-3", "%", "1.5")] == [1, 1, 1, 1]
