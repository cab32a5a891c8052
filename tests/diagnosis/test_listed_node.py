"""A node of a list that is cut: it is answered for, and what follows in the list is not."""

import msgspec
import pytest

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import UnreadTargetError, parse_target
from lockgate.model.facts import Missing, Snapshot
from lockgate.rules import all_rules
from tests.rules.world import snapshot

CUT = Missing("nodes.json holds a part of the list", "kubectl get nodes -A -o json")
RULES = all_rules()


def cut(ready: str = "True") -> Snapshot:
    nodes = {"gpu-a": {"status": {"conditions": [{"type": "Ready", "status": ready}]}}, "gpu-b": {}}
    facts = snapshot({"nodes": nodes, "pods": {"default/x": {}}})
    assert not isinstance(facts.nodes, Missing)
    return msgspec.structs.replace(facts, nodes=CUT, some_nodes=facts.nodes)


def test_a_node_that_is_listed_is_answered_for_and_the_rest_is_open() -> None:
    answer = diagnose(cut(), parse_target("node/gpu-a", ""), RULES)
    assert answer.headline.startswith("node/gpu-a: nvidia.com/gpu capacity 2, allocatable 2")
    assert [(n.reason, n.decides) for n in answer.not_checked if n.id == "nodes"] == [(CUT.reason, False)]


def test_its_fault_is_told() -> None:
    answer = diagnose(cut(ready="False"), parse_target("node/gpu-a", ""), RULES)
    assert [f.id for f in answer.findings] == ["nodes/not-ready"]


def test_a_node_beyond_the_cut_is_not_called_absent() -> None:
    with pytest.raises(UnreadTargetError, match="holds a part of the list"):
        diagnose(cut(), parse_target("node/gpu-c", ""), RULES)


def test_for_a_pod_the_part_is_no_list() -> None:
    answer = diagnose(cut(), parse_target("pod/x", "default"), RULES)
    assert any(CUT.reason in n.reason and n.decides for n in answer.not_checked)
