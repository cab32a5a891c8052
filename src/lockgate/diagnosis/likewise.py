"""The same fault on several nodes, told once: its sentence names all of them, its steps say for which they serve."""

from collections.abc import Iterator, Sequence

import msgspec

from lockgate.diagnosis.seen import listed
from lockgate.model.finding import Finding, Remedy

# Marks that stand beside a node's name in a sentence.
_MARKS = ",.;:()\"'"
# So many steps that differ from those of the first node are told beside them.
_MOST_OTHERS = 3


def on_all(first: Finding, same: Sequence[Finding]) -> Finding:
    """The finding of one node, worded for every node that has the same fault; any other finding as it is."""
    others = {there: f for f in same if (there := _node(f)) and there != _node(first)}
    if not _node(first) or not others:
        return first
    return msgspec.structs.replace(
        first, summary=_summary(first, others), remedy=(*_shared(first, others), *_further(first, others))
    )


def _node(finding: Finding) -> str:
    kind, _, name = finding.about.partition("/")
    return name if kind == "node" else ""


def _summary(first: Finding, others: dict[str, Finding]) -> str:
    """`a, b: what both have`, or the first's own sentence and where else it is so."""
    mine = _node(first)
    said = first.summary.removeprefix(f"{mine}: ")
    if said != first.summary and all(f.summary == f"{name}: {said}" for name, f in others.items()):
        return f"{listed((mine, *others))}: {said}"
    return f"{first.summary} The same fault on {listed(others)}."


def _shared(first: Finding, others: dict[str, Finding]) -> Iterator[Remedy]:
    """The first's steps; where another node needs the same with other names, the step says so."""
    mine = _node(first)
    for step in first.remedy:
        alike = [name for name, f in others.items() if any(_is_same(step, mine, r, name) for r in f.remedy)]
        named = [name for name in alike if step not in others[name].remedy]
        text = f"{step.text} (likewise for {listed(named)})" if named else step.text
        yield msgspec.structs.replace(step, text=text)


def _further(first: Finding, others: dict[str, Finding]) -> list[Remedy]:
    """The steps of other nodes that the first does not need, the same of several nodes once."""
    mine = _node(first)
    found: list[tuple[str, Remedy]] = []
    for name, finding in others.items():
        for step in finding.remedy:
            known = [(mine, r) for r in first.remedy] + found
            if len(found) < _MOST_OTHERS and not any(_is_same(r, where, step, name) for where, r in known):
                found.append((name, step))
    return [step for _, step in found]


def _is_same(step: Remedy, node: str, other: Remedy, there: str) -> bool:
    """Whether two nodes need the same step, but for their names."""
    mine, theirs = step.text.split(), other.text.split()
    return len(mine) == len(theirs) and all(
        a == b or (a.strip(_MARKS) == node and b.strip(_MARKS) == there) for a, b in zip(mine, theirs, strict=True)
    )
