"""Where a cluster shows what a page explains: the findings that are there now, and the numbers that belong to it."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

import msgspec

from lockgate.cli.pages import Page
from lockgate.cli.surveying import NodeLine, OperandLine, PolicyLine, Survey, survey
from lockgate.diagnosis.pods_asked import pods_of
from lockgate.diagnosis.target import CLUSTER, SELECTED, Target
from lockgate.diagnosis.views.gate_one import gpu_asked
from lockgate.model.facts import Snapshot
from lockgate.model.finding import Finding, NotChecked, TargetRef


class Here(msgspec.Struct, frozen=True, rename="camel"):
    """Of one page: what of it is in this cluster now; `numbers` are the parts of the survey that belong to it,
    `not_checked` says what was not read that would show more of it.
    """

    id: str
    findings: tuple[Finding, ...]
    numbers: tuple[str, ...]
    not_checked: tuple[NotChecked, ...] = ()


class Numbers(msgspec.Struct, frozen=True, rename="camel"):
    """The parts of the survey that pages refer to, for whose pods; a node's numbers count everybody's."""

    about: TargetRef
    nodes: tuple[NodeLine, ...]
    operands: tuple[OperandLine, ...]
    policies: tuple[PolicyLine, ...]


def look(snapshot: Snapshot, asked: Target) -> Survey:
    """The survey of what is asked about: what is wrong with its pods, and the nodes that matter to them.

    Raises UnreadableError and TargetMissingError like `survey`.
    """
    return survey(snapshot, asked=asked, wanted=_nodes_of(snapshot, asked))


def here(pages: Iterable[Page], seen: Survey) -> tuple[Here, ...]:
    """For each page the findings of a cluster that it explains."""
    return tuple(_here(page, seen) for page in pages)


def numbers(seen: Survey) -> Numbers:
    """The numbers of a survey without its findings."""
    return Numbers(seen.diagnosis.target, seen.nodes, seen.operands, seen.policies)


def heading(seen: Survey) -> str:
    """What was looked at, in a few words."""
    about = seen.diagnosis.target
    place = f" in namespace {about.namespace}" if about.namespace else ""
    match about.kind:
        case "Namespace":
            return f"In this cluster now, for namespace {about.name} (numbers count everybody's pods):"
        case _ if about.kind == SELECTED:
            return f"In this cluster now, for pods with {about.name}{place} (numbers count everybody's pods):"
        case _:
            return "In this cluster now:"


def _nodes_of(snapshot: Snapshot, asked: Target) -> frozenset[str] | None:
    """The nodes that the GPU pods asked about are on; None, which is all, while one of them has no node yet."""
    if asked.kind == CLUSTER:
        return None
    nodes = frozenset(pod.spec.node_name for pod in pods_of(snapshot, asked) if gpu_asked(pod))
    return nodes if nodes and "" not in nodes else None


def _here(page: Page, seen: Survey) -> Here:
    patterns = page.shown_by or ((page.id,) if page.kind in ("finding", "lint") else ())
    waived = (w.finding for w in seen.diagnosis.waived)
    found = [f for f in (*seen.diagnosis.findings, *waived) if _is_shown(f.id, patterns)]
    open_ = [n for n in seen.diagnosis.not_checked if any(_is_shown(id_, patterns) for id_ in (n.id, *n.rules))]
    return Here(page.id, tuple(found), page.numbers, tuple(open_))


def _is_shown(id_: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(id_, pattern) for pattern in patterns)
