"""Subjects for lint cases: a case names files by their path on the node, a release, and what else the node has."""

from typing import Any

from lockgate.containerd.releases import Release
from lockgate.lint.subject import HandedOut, NodeFacts, Subject

TOP_LEVEL = "/etc/containerd/config.toml"


def subject(case: dict[str, Any], release: str | None) -> Subject:
    """One node as a case describes it, with one release."""
    files = case["files"]
    return Subject(
        files,
        case.get("root", TOP_LEVEL if TOP_LEVEL in files else ""),
        Release.parse(release) if release else None,
        presence=case.get("node_has", {}),
        node=_facts(dict(case["node"])) if "node" in case else None,
        lists_cdi=case.get("lists_cdi", False),
    )


def _facts(said: dict[str, Any]) -> NodeFacts:
    handed = said.pop("hands_out", None)
    return NodeFacts(**said, hands_out=HandedOut(**handed) if handed else None)
