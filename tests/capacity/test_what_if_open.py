"""What `what-if` leaves open: nodes whose devices claims serve, and pods about which something else decides."""

from typing import Any

import msgspec
import pytest

from lockgate.capacity.actions import Action, Cordon, Drain
from lockgate.capacity.overview import scene_of
from lockgate.capacity.what_if import WhatIf, what_if
from lockgate.capacity.what_if_open import with_open
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.objects import Node, Pod
from tests.capacity.build import GPU, gpu_node, gpu_pod
from tests.capacity.test_by_claims import CLASS, devices

REFUSED = Missing("may not list", "RBAC: list on deviceclasses.resource.k8s.io", refused=True)
SERVED = gpu_node("dra", labels={}, capacity={GPU: "0"})
FULL = gpu_node("full", 2)
PODS = (gpu_pod("p", 2, node="full"),)


def outcome(nodes: tuple[Node, ...], pods: tuple[Pod, ...], *actions: Action, **sections: Any) -> WhatIf:
    none: dict[str, Any] = {"device_classes": (), "resource_slices": (), "resource_claims": ()}
    facts = Snapshot(nodes=nodes, pods=pods, **none | sections)
    return with_open(what_if(actions, scene_of(facts), pods), actions, scene_of(facts), facts)


@pytest.mark.parametrize(
    ("sections", "unknown"),
    [
        ({}, 0),
        ({"device_classes": REFUSED}, 1),
        ({"device_classes": (CLASS,), "resource_slices": (devices(2),)}, 1),
        ({"device_classes": (CLASS,), "resource_slices": (devices(1),)}, 0),
        ({"device_classes": (CLASS,), "resource_slices": REFUSED}, 1),
    ],
    ids=["no class", "classes not read", "enough devices", "too few", "devices not read"],
)
def test_a_pod_that_claims_may_serve_elsewhere_is_not_said_to_wait(sections: dict[str, Any], unknown: int) -> None:
    seen = outcome((FULL, SERVED), PODS, Drain("full"), **sections)
    assert (len(seen.unknown), len(seen.waiting)) == (unknown, 1 - unknown)
    assert all(fate.reason for fate in seen.unknown)


@pytest.mark.parametrize("action", [Cordon("dra"), Drain("dra")])
def test_a_node_that_is_closed_serves_nobody(action: Action) -> None:
    seen = outcome((FULL, SERVED), PODS, Drain("full"), action, device_classes=REFUSED)
    assert (len(seen.unknown), len(seen.waiting)) == (0, 1)


def test_a_node_that_is_tainted_serves_nobody() -> None:
    tainted = gpu_node("dra", capacity={GPU: "0"}, taints=[{"key": "x", "effect": "NoSchedule"}])
    seen = outcome((FULL, tainted), PODS, Drain("full"), device_classes=REFUSED)
    assert (len(seen.unknown), len(seen.waiting)) == (0, 1)


def test_where_a_pod_with_claims_would_go_is_not_decided() -> None:
    claims = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "mine"}]}
    pods = (gpu_pod("p", 0, node="full", **claims),)
    seen = outcome((FULL, gpu_node("b", 2)), pods, Drain("full"))
    assert [fate.target for fate in seen.moved] == ["b"]
    assert seen.undecided == ("default/p: device claims gpu",)
    assert "devices that claims hold" in seen.left_out


def test_what_is_asked_of_everything_known_is_decided() -> None:
    seen = outcome((FULL, gpu_node("b", 2)), PODS, Drain("full"))
    assert (seen.unknown, seen.undecided) == ((), ())
    assert "unknown" in msgspec.to_builtins(seen)
