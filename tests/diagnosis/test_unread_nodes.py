"""Nodes that the scheduler counts and nobody gave: what is said of the known ones is not said of all."""

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = all_rules()


def _counted(nodes: int) -> list[str]:
    """What is open about nodes where the scheduler counts so many, and one is known, which is full."""
    said = f"0/{nodes} nodes are available: {nodes} Insufficient nvidia.com/gpu."
    waits = {"status": {"conditions": [{"type": "PodScheduled", "status": "False", "message": said}]}}
    holds = {"like": "running", "spec": {"nodeName": "gpu-a"}}
    full = {"status": {kind: {"nvidia.com/gpu": "1"} for kind in ("capacity", "allocatable")}}
    facts = snapshot({"nodes": {"gpu-a": full}, "pods": {"default/x": waits, "ml/a": holds}})
    answer = diagnose(facts, parse_target("pod/x", "default"), RULES)
    assert answer.findings[0].id == "scheduling/all-held"
    return [n.reason for n in answer.not_checked if n.id == "nodes" and n.decides]


def test_where_the_scheduler_counts_far_more_nodes_than_are_known_the_others_are_open() -> None:
    assert _counted(40) == ["the scheduler counts 40 nodes, and 1 is known: nothing here is said of the others"]
    assert _counted(1) == []
