"""Which nodes a pod's nodeSelector and required node affinity admit, and which node comes nearest.

Source: component-helpers v0.37 scheduling/corev1/nodeaffinity, apimachinery labels.Requirement.Matches. Preferred terms
never keep a pod away, so they are not read.
"""

import re
from collections.abc import Mapping

import msgspec

from lockgate.model.objects import LabelRequirement, LabelSelector, Node, NodeSelectorTerm, PodSpec

_INT64 = re.compile(r"[+-]?[0-9]+")


class Miss(msgspec.Struct, frozen=True, kw_only=True):
    """One requirement that a node does not meet: `wanted` in kubectl's selector notation, `seen` the node's own value.

    `seen` is None when the node lacks the label altogether.
    """

    key: str
    wanted: str
    seen: str | None


def matches_node(spec: PodSpec, node: Node) -> bool:
    """Whether nodeSelector and required node affinity both admit the node."""
    return not node_selector_misses(spec, node) and matches_affinity(spec, node)


def matches_affinity(spec: PodSpec, node: Node) -> bool:
    """Whether the required node affinity admits the node: any term will do; an empty term matches nothing."""
    terms = _terms(spec)
    return terms is None or any(matches_term(term, node) for term in terms)


def matches_term(term: NodeSelectorTerm, node: Node) -> bool:
    """Whether every expression and field of one term holds for the node; a term with neither matches no node."""
    if not term.match_expressions and not term.match_fields:
        return False
    return not term_misses(term, node)


def matches_requirement(requirement: LabelRequirement, labels: Mapping[str, str]) -> bool:
    """Whether one `key operator values` holds for a set of labels; unknown operators never hold."""
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return _compares(requirement, value)
        case _:
            return False


def matches_labels(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether a label selector selects something with these labels: None selects nothing, an empty one everything."""
    if selector is None:
        return False
    return all(labels.get(key) == value for key, value in selector.match_labels.items()) and all(
        matches_requirement(requirement, labels) for requirement in selector.match_expressions
    )


def selector_misses(wanted: Mapping[str, str], labels: Mapping[str, str]) -> tuple[Miss, ...]:
    """The pairs of an equality selector that a set of labels does not carry, in the selector's order."""
    return tuple(
        Miss(key=key, wanted=f"{key}={value}", seen=labels.get(key))
        for key, value in wanted.items()
        if labels.get(key) != value
    )


def node_selector_misses(spec: PodSpec, node: Node) -> tuple[Miss, ...]:
    """The pairs of `spec.nodeSelector` that a node does not carry."""
    return selector_misses(spec.node_selector, node.metadata.labels)


def term_misses(term: NodeSelectorTerm, node: Node) -> tuple[Miss, ...]:
    """The requirements of one affinity term that a node does not meet."""
    labels = node.metadata.labels
    expressions = [r for r in term.match_expressions if not matches_requirement(r, labels)]
    fields = [r for r in term.match_fields if not _matches_field(r, node)]
    return (
        *(Miss(key=r.key, wanted=requirement_text(r), seen=labels.get(r.key)) for r in expressions),
        *(Miss(key=r.key, wanted=requirement_text(r), seen=node.name) for r in fields),
    )


def node_misses(spec: PodSpec, node: Node) -> tuple[Miss, ...]:
    """What one node lacks for nodeSelector and for the affinity term that comes nearest; empty where both admit it."""
    misses = node_selector_misses(spec, node)
    terms = _terms(spec)
    if terms is not None and not matches_affinity(spec, node):
        misses += min((_term_misses_or_empty(term, node) for term in terms), key=len, default=_NO_TERM)
    return misses


def pinned_names(spec: PodSpec) -> frozenset[str] | None:
    """The node names that the affinity's `metadata.name` fields restrict the search to, or None when it is open.

    The scheduler then looks at no other node; an empty set means that the terms contradict each other.
    """
    terms = _terms(spec)
    if not terms:
        return None
    names: set[str] = set()
    for term in terms:
        wanted = [set(r.values) for r in term.match_fields if r.key == "metadata.name" and r.operator == "In"]
        if not wanted:
            return None
        names |= set.intersection(*wanted)
    return frozenset(names)


def requirement_text(requirement: LabelRequirement) -> str:
    """A requirement in kubectl's selector notation: `key in (a, b)`, `!key`, `key > 5`."""
    values = ", ".join(requirement.values)
    match requirement.operator:
        case "In" if len(requirement.values) == 1:
            return f"{requirement.key}={values}"
        case "NotIn" if len(requirement.values) == 1:
            return f"{requirement.key}!={values}"
        case "In" | "NotIn":
            return f"{requirement.key} {requirement.operator.lower()} ({values})"
        case "Exists":
            return requirement.key
        case "DoesNotExist":
            return f"!{requirement.key}"
        case "Gt" | "Lt":
            return f"{requirement.key} {'>' if requirement.operator == 'Gt' else '<'} {values}"
        case _:
            return f"{requirement.key} {requirement.operator} ({values})"


_EMPTY_TERM = (Miss(key="", wanted="a node selector term with at least one requirement", seen=None),)
_NO_TERM = (Miss(key="", wanted="a node affinity with at least one term", seen=None),)


def _terms(spec: PodSpec) -> tuple[NodeSelectorTerm, ...] | None:
    affinity = spec.affinity.node_affinity if spec.affinity else None
    return affinity.required.node_selector_terms if affinity and affinity.required else None


def _term_misses_or_empty(term: NodeSelectorTerm, node: Node) -> tuple[Miss, ...]:
    return term_misses(term, node) or _EMPTY_TERM


def _matches_field(requirement: LabelRequirement, node: Node) -> bool:
    """Fields know `metadata.name` with `In` or `NotIn` and exactly one value; anything else matches nothing."""
    if requirement.key != "metadata.name" or len(requirement.values) != 1:
        return False
    match requirement.operator:
        case "In":
            return node.name == requirement.values[0]
        case "NotIn":
            return node.name != requirement.values[0]
        case _:
            return False


def _compares(requirement: LabelRequirement, value: str | None) -> bool:
    seen, bound = _int64(value), _int64(requirement.values[0] if len(requirement.values) == 1 else None)
    if seen is None or bound is None:
        return False
    return seen > bound if requirement.operator == "Gt" else seen < bound


def _int64(text: str | None) -> int | None:
    """As strconv.ParseInt reads it: a sign and leading zeros are fine, spaces are not."""
    if text is None or not text.isascii() or not _INT64.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
