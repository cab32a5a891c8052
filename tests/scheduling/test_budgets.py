"""Pod disruption budgets as the eviction API reads them."""

from typing import Any

import msgspec
import pytest

from lockgate.model.objects import PodDisruptionBudget
from lockgate.scheduling.budgets import by_namespace, guarding, refusal
from tests.scheduling.build import pod

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
UNREADY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}


def budget(name: str = "b", allowed: int = 0, selector: Any = None, **fields: Any) -> PodDisruptionBudget:
    spec = {"selector": {"matchLabels": {"app": "x"}} if selector is None else selector, **fields.pop("spec", {})}
    metadata = {"name": name, "namespace": fields.pop("namespace", "default"), "generation": 1}
    status = {"disruptionsAllowed": allowed, "observedGeneration": 1, **fields}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, PodDisruptionBudget)


def said(subject: Any, *budgets: PodDisruptionBudget) -> str:
    return refusal(subject, by_namespace(budgets))


def guarded(status: Any = READY, **fields: Any) -> Any:
    return pod("p", labels={"app": "x"}, status=status, **fields)


def test_a_budget_that_allows_nothing_keeps_the_pod() -> None:
    assert said(guarded(), budget("train", 0)) == "PodDisruptionBudget train allows no disruption now"
    assert said(guarded(), budget("train", 1)) == ""


def test_a_budget_guards_its_own_namespace_and_labels() -> None:
    assert said(guarded(), budget(namespace="other")) == ""
    assert said(guarded(), budget(selector={"matchLabels": {"app": "y"}})) == ""
    assert said(guarded(), budget(selector={})) != ""  # policy/v1: an empty selector is every pod of the namespace


def test_two_budgets_are_one_too_many_for_the_eviction_api() -> None:
    assert said(guarded(), budget("a", 5), budget("b", 5)).startswith("PodDisruptionBudgets a, b guard it")


@pytest.mark.parametrize(
    "status", [{"phase": "Pending"}, {"phase": "Succeeded"}, {"phase": "Failed"}], ids=lambda status: status["phase"]
)
def test_pods_that_disrupt_nothing_are_not_asked_about(status: Any) -> None:
    assert guarding(guarded(status), by_namespace([budget()])) == ()


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({}, True),
        ({"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}, False),
        ({"currentHealthy": 2, "desiredHealthy": 2}, False),
        ({"currentHealthy": 1, "desiredHealthy": 2}, True),
        ({"currentHealthy": 0, "desiredHealthy": 0}, True),
    ],
)
def test_a_pod_that_is_not_ready(fields: Any, kept: bool) -> None:
    assert bool(said(guarded(UNREADY), budget(**fields))) is kept


def test_two_budgets_are_too_many_for_a_pod_that_is_not_ready_as_well() -> None:
    lenient = {"unhealthyPodEvictionPolicy": "AlwaysAllow"}
    assert "no more than one" in said(guarded(UNREADY), budget("a", spec=lenient), budget("b", spec=lenient))


def test_a_budget_whose_controller_lags_allows_nothing() -> None:
    assert said(guarded(), budget(allowed=3, observedGeneration=0)) != ""
