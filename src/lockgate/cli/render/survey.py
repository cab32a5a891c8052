"""The survey as text of 100 columns, and as JSON."""

import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from lockgate.cli.render.lines import WIDTH, cut, few, short_name, wrap
from lockgate.cli.surveying import UNKNOWN, NodeLine, Offer, Survey
from lockgate.kit.counted import counted
from lockgate.model import names
from lockgate.model.finding import Finding, Severity

_MOST = 6  # names on a line
_HEADS = ("PHYS", "CAP", "ALLOC", "REQ", "LOCKED", "HEADROOM")
_WIDE = sum(len(head) + 1 for head in _HEADS)
_FEW = 40  # nodes that are shown line by line; of more, those with findings come first


def as_json(seen: Survey) -> str:
    """One document with a version."""
    body = {"apiVersion": names.API_VERSION, "kind": "Survey"} | msgspec.to_builtins(seen)
    return msgspec.json.format(msgspec.json.encode(body), indent=2).decode() + "\n"


def as_text(seen: Survey) -> str:
    """Nodes, operands, policy, what is wrong, what is not known."""
    parts = (*PARTS.values(), _wrong, _waived, _unknown)
    return "\n".join("\n".join(lines) + "\n" for part in parts if (lines := list(part(seen))))


def parts_text(seen: Survey, names_: Iterable[str]) -> str:
    """Some parts of it, by their names in PARTS."""
    return "\n".join("\n".join(PARTS[name](seen)) + "\n" for name in names_)


def _shown(seen: Survey) -> list[NodeLine]:
    return sorted(seen.nodes, key=lambda n: (not n.findings, n.node))[:_FEW]


def _gate_one(seen: Survey) -> Iterator[str]:
    if not seen.nodes:
        yield "No node is known to have a GPU."
        return
    heads = "".join(f"{head:>{len(head) + 1}}" for head in _HEADS)
    yield f"{'GATE 1: NUMBERS':<22}{'PRODUCT':<24}{heads}  STATE"
    for node in _shown(seen):
        yield from (_offer(node, offer) for offer in node.offers)
        if not node.offers:
            yield f"{_who(node)}{'offers no GPU':>{_WIDE}}  {_state(node)}"
    more = len(seen.nodes) - _FEW
    if more > 0:
        yield f"  and {counted(more, 'more node')} (-o json shows all)"


def _offer(node: NodeLine, offer: Offer) -> str:
    numbers = (offer.physical, offer.capacity, offer.allocatable, offer.requested, offer.locked, offer.headroom)
    cells = "".join(
        f"{'?' if number is None else number:>{len(head) + 1}}" for number, head in zip(numbers, _HEADS, strict=True)
    )
    special = "" if offer.resource == names.GPU else f" {offer.resource}"
    shared = "".join(f" {s}" for s in offer.sharing if s != "exclusive")
    return f"{_who(node)}{cells}  {_state(node)}{special}{shared}"


def _who(node: NodeLine) -> str:
    return f"{short_name(node.node, 21):<22}{short_name(node.product, 23):<24}"


def _state(node: NodeLine) -> str:
    words = ["NotReady"] if node.ready is False else ["ready" if node.ready else UNKNOWN]
    return ",".join([*words, *(["cordoned"] if node.cordoned else [])])


def _gate_two(seen: Survey) -> Iterator[str]:
    if not seen.nodes:
        return
    yield f"{'GATE 2: INJECTION':<22}{'HANDLERS':<41}{'CDI DEVICES':>11}  CONFIGURATION"
    for node in _shown(seen):
        cdi = UNKNOWN if node.cdi_devices is None else str(node.cdi_devices)
        gate = f"{cut(node.handlers_said, 40):<41}{cdi:>11}  {node.configuration_said}"
        yield f"{short_name(node.node, 21):<22}{gate}"


def _versions(seen: Survey) -> Iterator[str]:
    """Nodes with the same versions stand on one line: a node that differs is what one looks for."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for node in seen.nodes:
        alike.setdefault(tuple(node.versions.items()), []).append(node.node)
    if alike:
        yield "VERSIONS"
    for versions, nodes in alike.items():
        text = ", ".join(f"{name} {version}" for name, version in versions)
        yield from wrap(f"{few(nodes, _MOST)}: {text}")


def _operands(seen: Survey) -> Iterator[str]:
    yield f"{'OPERAND':<26}{'NAMESPACE':<20}{'DESIRED':>8}{'READY':>7}  IMAGE"
    for each in seen.operands:
        place = f"{each.operand:<26}{short_name(each.namespace, 19):<20}"
        yield f"{place}{each.desired:>8}{each.ready:>7}  {short_name(each.image, 36)}"
    if not seen.operands:
        yield "  none is known"


def _policies(seen: Survey) -> Iterator[str]:
    for each in seen.policies:
        yield from wrap(f"ClusterPolicy {each.policy} {each.said}", 0)
    if not seen.policies:
        yield "No ClusterPolicy is known."


def _wrong(seen: Survey) -> Iterator[str]:
    roots = [f for f in seen.diagnosis.findings if not f.follows]
    if not roots:
        answer = f"{seen.diagnosis.verdict.value.upper()}  {seen.diagnosis.headline}"
        yield from textwrap.wrap(answer, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        return
    yield "WRONG, WORST FIRST (`why` shows the evidence)" if _is_wrong(roots) else "REMARKS"
    for finding in roots:
        yield from wrap(f"{finding.severity.value}  {finding.id}: {finding.summary}{_affects(finding)}")


def _waived(seen: Survey) -> Iterator[str]:
    if seen.diagnosis.waived:
        yield "WAIVED"
    for item in seen.diagnosis.waived:
        until = f" until {item.until}" if item.until else ""
        yield from wrap(f"{item.finding.id}: {item.reason} (waived{until} by {item.source}){_affects(item.finding)}")
    for void in seen.diagnosis.void_waivers:
        yield from wrap(f"without effect: {void.source}: {void.text}: {void.problem}")


def _is_wrong(roots: list[Finding]) -> bool:
    return any(f.severity is not Severity.INFO for f in roots)


def _affects(finding: Finding) -> str:
    return f" [{few(finding.affects, _MOST)}]" if finding.affects else ""


def _unknown(seen: Survey) -> Iterator[str]:
    if seen.unknown:
        yield "NOT KNOWN"
    for text in seen.unknown:
        yield from wrap(text)


PARTS: Final[dict[str, Callable[[Survey], Iterator[str]]]] = {
    "gate-one": _gate_one,
    "gate-two": _gate_two,
    "versions": _versions,
    "operands": _operands,
    "policy": _policies,
}
