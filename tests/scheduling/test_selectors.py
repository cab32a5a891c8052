"""Node selectors and affinity: what matches, what misses, what comes nearest."""

from typing import Any

import msgspec
import pytest

from lockgate.model.objects import LabelRequirement, LabelSelector, PodSpec
from lockgate.scheduling.selectors import (
    matches_labels,
    matches_node,
    matches_requirement,
    node_misses,
    pinned_names,
)
from tests.scheduling.build import node

A100 = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "zone": "a"}
SHARED = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-SHARED", "zone": "a"}


def affinity(*terms: dict[str, Any]) -> PodSpec:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return msgspec.convert({"affinity": {"nodeAffinity": required}}, PodSpec)


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("operator", "values", "labels", "holds"),
    [
        ("In", ("a", "b"), {"k": "b"}, True),
        ("In", ("a",), {}, False),
        ("NotIn", ("a",), {}, True),
        ("NotIn", ("a",), {"k": "a"}, False),
        ("Exists", (), {"k": ""}, True),
        ("DoesNotExist", (), {"k": ""}, False),
        ("Gt", ("8",), {"k": "9"}, True),
        ("Gt", ("8",), {"k": "8"}, False),
        ("Lt", ("8",), {"k": "8"}, False),
        ("Gt", ("8",), {"k": "+09"}, True),
        ("Gt", ("8",), {"k": "9.5"}, False),
        ("Gt", ("8",), {}, False),
        ("Lt", ("8",), {"k": "-1"}, True),
        ("Lt", ("8", "9"), {"k": "1"}, False),
        ("Lt", ("8",), {"k": str(2**63)}, False),
        ("Like", ("a",), {"k": "a"}, False),
    ],
)
def test_an_operator_holds(operator: str, values: tuple[str, ...], labels: dict[str, str], holds: bool) -> None:
    assert matches_requirement(LabelRequirement(key="k", operator=operator, values=values), labels) is holds


def test_a_missing_label_selector_selects_nothing_and_an_empty_one_everything() -> None:
    assert not matches_labels(None, {"a": "b"})
    assert matches_labels(LabelSelector(), {})


def test_terms_are_alternatives_and_their_expressions_are_not() -> None:
    either = affinity(expression("zone", "In", "b"), expression("zone", "In", "a"))
    assert matches_node(either, node(labels=A100))
    two = [*expression("zone", "In", "a")["matchExpressions"], *expression("disk", "Exists")["matchExpressions"]]
    assert not matches_node(affinity({"matchExpressions": two}), node(labels=A100))


@pytest.mark.parametrize("spec", [affinity(), affinity({})], ids=["no term", "an empty term"])
def test_an_affinity_that_says_nothing_matches_no_node_and_says_so(spec: PodSpec) -> None:
    assert not matches_node(spec, node())
    assert node_misses(spec, node())


def test_node_selector_and_affinity_must_both_hold() -> None:
    spec = msgspec.structs.replace(affinity(expression("zone", "In", "a")), node_selector={"disk": "ssd"})
    assert not matches_node(spec, node(labels=A100))
    assert matches_node(spec, node(labels={**A100, "disk": "ssd"}))


def test_fields_know_only_the_nodes_name() -> None:
    def named(operator: str, *values: str, key: str = "metadata.name") -> PodSpec:
        return affinity({"matchFields": [{"key": key, "operator": operator, "values": list(values)}]})

    assert matches_node(named("In", "gpu-1"), node("gpu-1"))
    assert matches_node(named("NotIn", "gpu-1"), node("gpu-2"))
    assert not matches_node(named("In", "gpu-1", "gpu-2"), node("gpu-1"))
    assert not matches_node(named("Exists"), node("gpu-1"))


def test_pinned_names_are_those_that_every_term_names() -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["a"]}
    other = {"key": "metadata.name", "operator": "In", "values": ["b"]}
    assert pinned_names(affinity({"matchFields": [field]}, {"matchFields": [other]})) == frozenset("ab")
    assert pinned_names(affinity({"matchFields": [field, other]})) == frozenset()
    assert pinned_names(affinity({"matchFields": [field]}, expression("zone", "Exists"))) is None
    assert pinned_names(PodSpec()) is None


def test_a_label_with_another_value_is_told_from_none() -> None:
    spec = PodSpec(node_selector={"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"})
    seen = [node_misses(spec, each)[0].seen for each in (node("cpu-1"), node("gpu-2", labels=SHARED))]
    assert seen == [None, "NVIDIA-A100-SXM4-40GB-SHARED"]


def test_a_matching_node_misses_nothing() -> None:
    assert node_misses(PodSpec(node_selector={"zone": "a"}), node(labels=A100)) == ()


def test_the_term_that_comes_nearest_is_the_one_explained() -> None:
    far = [{"key": "x", "operator": "Exists"}, {"key": "y", "operator": "Exists"}]
    spec = affinity({"matchExpressions": far}, expression("zone", "In", "b", "c"))
    (miss,) = node_misses(spec, node(labels=A100))
    assert (miss.wanted, miss.seen) == ("zone in (b, c)", "a")
