"""The survey as Markdown: tables of nodes, operands and versions, then what is wrong, to be pasted into an issue."""

from collections.abc import Iterator

from lockgate.cli.render.markdown import finding_lines, plain, table, void_lines
from lockgate.cli.surveying import UNKNOWN, NodeLine, Survey


def as_markdown(seen: Survey) -> str:
    """Everything that the text shows, for all nodes."""
    return "\n".join(_lines(seen)).rstrip() + "\n"


def _lines(seen: Survey) -> Iterator[str]:
    yield from (f"**{seen.diagnosis.verdict.value.upper()}**: {plain(seen.diagnosis.headline)}", "")
    yield from ("### Gate 1: numbers", "")
    heads = ("node", "product", "resource", "physical", "capacity", "allocatable", "requested", "headroom", "state")
    yield from table(heads, [row for node in seen.nodes for row in _offers(node)])
    yield from ("### Gate 2: injection", "")
    yield from table(("node", "handlers", "CDI devices", "configuration"), map(_injection, seen.nodes))
    yield from ("### Operands", "")
    rows = [(o.operand, o.namespace, str(o.desired), str(o.ready), o.image) for o in seen.operands]
    yield from table(("operand", "namespace", "desired", "ready", "image"), rows)
    yield from (f"ClusterPolicy `{p.policy}` {plain(p.said)}\n" for p in seen.policies)
    yield from ("### Versions", "")
    names = list(dict.fromkeys(name for node in seen.nodes for name in node.versions))
    yield from table(("node", *names), [(n.node, *(n.versions[name] for name in names)) for n in seen.nodes])
    for finding in seen.diagnosis.findings:
        yield from finding_lines(finding)
    if seen.diagnosis.waived:
        yield from ("### Waived", "")
        yield from (f"- `{w.finding.id}`: {plain(w.reason)} ({w.source})" for w in seen.diagnosis.waived)
        yield ""
    yield from void_lines(seen.diagnosis)
    if seen.unknown:
        yield from ("### Not known", "")
        yield from (f"- {plain(text)}" for text in seen.unknown)


def _offers(node: NodeLine) -> Iterator[tuple[str, ...]]:
    words = "unknown" if node.ready is None else "ready" if node.ready else "NotReady"
    state = f"{words}, cordoned" if node.cordoned else words
    for offer in node.offers:
        numbers = (offer.physical, offer.capacity, offer.allocatable, offer.requested, offer.headroom)
        cells = ("?" if number is None else str(number) for number in numbers)
        yield (node.node, node.product, offer.resource, *cells, state)
    if not node.offers:
        yield (node.node, node.product, "offers no GPU", "", "", "", "", "", state)


def _injection(node: NodeLine) -> tuple[str, ...]:
    devices = UNKNOWN if node.cdi_devices is None else str(node.cdi_devices)
    return node.node, node.handlers_said, devices, node.configuration_said
