"""Subjects for lint cases: a case names files by their path on the node, a release, and what else the node has."""

from typing import Any

from lockgate.containerd.releases import Release
from lockgate.lint.cluster_facts import ClusterFacts, GpuNode
from lockgate.lint.subject import HandedOut, NodeFacts, Subject
from lockgate.model.objects import Taint

TOP_LEVEL = "/etc/containerd/config.toml"


def subject(case: dict[str, Any], release: str | None) -> Subject:
    """One node as a case describes it, with one release."""
    files = {"app.yaml": case["manifest"]} if "manifest" in case else case["files"]
    return Subject(
        files,
        case.get("root", TOP_LEVEL if TOP_LEVEL in files else ""),
        Release.parse(release) if release else None,
        presence=case.get("node_has", {}),
        node=_facts(dict(case["node"])) if "node" in case else None,
        lists_cdi=case.get("lists_cdi", False),
        serves_cri=case.get("serves_cri", False),
        holds_manifests="manifest" in case,
        cluster=_cluster(case["cluster"]) if "cluster" in case else None,
    )


def _cluster(said: dict[str, Any]) -> ClusterFacts:
    classes = said.get("runtime_classes")
    return ClusterFacts(
        nodes=tuple(_gpu_node(name, **node) for name, node in said.get("nodes", {}).items()),
        runtime_classes=None if classes is None else frozenset(classes),
    )


def _gpu_node(name: str, **said: Any) -> GpuNode:
    return GpuNode(
        name=name,
        capacity=said.get("capacity", {"nvidia.com/gpu": 8}),
        labels=said.get("labels", {}),
        taints=tuple(Taint(**taint) for taint in said.get("taints", ())),
        cuda=tuple(said["cuda"]) if "cuda" in said else None,
        shared=frozenset(said.get("shared", ())),
        injects=said.get("injects"),
    )


def _facts(said: dict[str, Any]) -> NodeFacts:
    handed = said.pop("hands_out", None)
    return NodeFacts(**said, hands_out=HandedOut(**handed) if handed else None)
