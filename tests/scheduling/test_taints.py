"""Taints and tolerations, operator by operator."""

import pytest

from lockgate.model.objects import Taint, Toleration
from lockgate.scheduling.taints import (
    admitted_tolerations,
    daemonset_tolerations,
    is_cordoned_for,
    taint_text,
    tolerates,
    toleration_for,
    untolerated_taint,
    untolerated_taints,
)
from tests.scheduling.build import node

GPU = Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "covers"),
    [
        (Toleration(operator="Exists"), True),
        (Toleration(key="nvidia.com/gpu", operator="Exists"), True),
        (Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoExecute"), False),
        (Toleration(key="nvidia.com/gpu", value="present"), True),
        (Toleration(key="nvidia.com/gpu", operator="Equal", value="present", effect="NoSchedule"), True),
        (Toleration(key="nvidia.com/gpu", operator="Equal", value="true"), False),
        (Toleration(key="nvidia.com/gpu", operator="exists"), False),
        (Toleration(key="sku", operator="Exists"), False),
        (Toleration(value="present"), True),
    ],
)
def test_a_toleration_covers_a_taint(toleration: Toleration, covers: bool) -> None:
    assert tolerates(toleration, GPU) is covers


@pytest.mark.parametrize(
    ("operator", "bound", "value", "covers"),
    [
        ("Gt", "5", "6", True),
        ("Gt", "5", "5", False),
        ("Lt", "5", "4", True),
        ("Lt", "5", "05", False),
        ("Lt", "5", "", False),
        ("Gt", "-1", "0", True),
    ],
)
def test_comparisons_read_plain_decimal_integers(operator: str, bound: str, value: str, covers: bool) -> None:
    taint = Taint(key="sla", value=value, effect="NoSchedule")
    assert tolerates(Toleration(key="sla", operator=operator, value=bound), taint) is covers


def test_the_first_taint_that_matters_is_the_one_reported() -> None:
    prefer = Taint(key="soft", effect="PreferNoSchedule")
    evict = Taint(key="node.kubernetes.io/not-ready", effect="NoExecute")
    assert untolerated_taints([prefer, evict, GPU], []) == (evict, GPU)
    tainted = node(taints=[{"key": "soft", "effect": "PreferNoSchedule"}])
    assert untolerated_taint(tainted, []) is None


def test_a_cordon_is_passed_by_tolerating_its_taint() -> None:
    cordoned = node(unschedulable=True)
    assert is_cordoned_for(cordoned, [])
    assert not is_cordoned_for(cordoned, [Toleration(operator="Exists")])
    assert not is_cordoned_for(cordoned, daemonset_tolerations(host_network=False))


@pytest.mark.parametrize("taint", [GPU, Taint(key="dedicated", effect="NoExecute")])
def test_the_proposed_toleration_covers_the_taint_and_no_other(taint: Taint) -> None:
    assert tolerates(toleration_for(taint), taint)
    assert not tolerates(toleration_for(taint), Taint(key="other", value=taint.value, effect=taint.effect))


def test_taints_read_as_kubectl_writes_them() -> None:
    assert taint_text(GPU) == "nvidia.com/gpu=present:NoSchedule"
    assert taint_text(Taint(key="k", effect="NoExecute")) == "k:NoExecute"


def test_the_api_server_adds_tolerations_that_the_pod_does_not_have() -> None:
    own = (Toleration(key="node.kubernetes.io/not-ready", operator="Exists", toleration_seconds=10),)
    added = [toleration.key for toleration in admitted_tolerations(())]
    assert added == ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    assert [t.toleration_seconds for t in admitted_tolerations(own)] == [10, 300]
    everything = (Toleration(operator="Exists"),)
    assert admitted_tolerations(everything) == everything
