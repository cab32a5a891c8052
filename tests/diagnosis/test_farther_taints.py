"""A taint on a node that is no nearest one: it keeps the pod away as well, so it is not ruled out."""

from typing import Any

import pytest

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = all_rules()


@pytest.mark.parametrize(("taints", "ruled_out"), [([{"key": "node.kubernetes.io/unreachable"}], False), ([], True)])
def test_a_taint_is_not_ruled_out_while_a_node_farther_off_has_one(taints: list[Any], ruled_out: bool) -> None:
    one = {kind: {"nvidia.com/gpu": "1"} for kind in ("capacity", "allocatable")}
    tainted = {"spec": {"taints": [t | {"effect": "NoSchedule"} for t in taints]}, "status": one}
    held = {f"ml/{node}": {"like": "running", "spec": {"nodeName": node}} for node in ("gpu-a", "gpu-b")}
    facts = snapshot({"nodes": {"gpu-a": tainted, "gpu-b": {"status": one}}, "pods": {"default/x": {}, **held}})
    answer = diagnose(facts, parse_target("pod/x", "default"), RULES)
    assert answer.findings[0].id == "scheduling/all-held"
    assert ("scheduling/untolerated-taint" in [r.id for r in answer.ruled_out]) is ruled_out
