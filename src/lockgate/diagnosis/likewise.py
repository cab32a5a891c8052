"""The same fault on several nodes, told once: its sentence names all of them, its steps say for which they serve."""

from collections.abc import Mapping, Sequence

import msgspec

from lockgate.diagnosis.seen import listed
from lockgate.kit.counted import counted
from lockgate.model.finding import Finding, Remedy

# Marks that stand beside a node's name in a sentence.
_MARKS = ",.;:()\"'"
# So many ways to mend it are told, each for the nodes that want it, and so many steps of all of them.
_MOST_KINDS = 3
_MOST_STEPS = 8


class _Step(msgspec.Struct):
    """A step as one node needs it, and the others that need the same with names of their own."""

    node: str
    remedy: Remedy
    others: list[str]

    def told(self) -> Remedy:
        likewise = f" (likewise for {listed(self.others)})" if self.others else ""
        return msgspec.structs.replace(self.remedy, text=f"{self.remedy.text}{likewise}")


def on_all(first: Finding, same: Sequence[Finding]) -> Finding:
    """The finding of one node, worded for every node that has the same fault; any other finding as it is.

    Nodes that are mended by the same steps share a sentence; one that wants others has its own.
    """
    nodes: dict[str, Finding] = {}
    for each in (first, *same):
        if name := _node(each):
            nodes.setdefault(name, each)
    if not _node(first) or len(nodes) == 1:
        return first
    steps: list[_Step] = []
    kinds: dict[tuple[int, ...], list[str]] = {}
    for name, finding in nodes.items():
        kinds.setdefault(tuple(_place(step, name, steps) for step in finding.remedy), []).append(name)
    return msgspec.structs.replace(
        first, summary=_summary(nodes, list(kinds.values())), remedy=tuple(step.told() for step in steps)
    )


def _node(finding: Finding) -> str:
    kind, _, name = finding.about.partition("/")
    return name if kind == "node" else ""


def _place(remedy: Remedy, node: str, steps: list[_Step]) -> int:
    """Which of the known steps a node's step is; one that is new joins them, as long as they can be read."""
    for place, known in enumerate(steps):
        if _is_same(known.remedy, known.node, remedy, node):
            known.others += [node] if remedy != known.remedy else []
            return place
    if len(steps) == _MOST_STEPS:
        return -1
    steps.append(_Step(node, remedy, []))
    return len(steps) - 1


def _is_same(step: Remedy, node: str, other: Remedy, there: str) -> bool:
    """Whether two nodes need the same step, but for their names."""
    mine, theirs = step.text.split(), other.text.split()
    return len(mine) == len(theirs) and all(
        a == b or (a.strip(_MARKS) == node and b.strip(_MARKS) == there) for a, b in zip(mine, theirs, strict=True)
    )


def _summary(nodes: Mapping[str, Finding], kinds: Sequence[Sequence[str]]) -> str:
    told = " ".join(_sentence(nodes, names) for names in kinds[:_MOST_KINDS])
    left = sum(map(len, kinds[_MOST_KINDS:]))
    return f"{told} And {counted(left, 'more node')}." if left else told


def _sentence(nodes: Mapping[str, Finding], names: Sequence[str]) -> str:
    """`a, b: what both have`, or the first one's own sentence and where else it is so."""
    first, *others = names
    own = nodes[first].summary
    said = own.removeprefix(f"{first}: ")
    if said != own and all(nodes[name].summary == f"{name}: {said}" for name in others):
        return f"{listed(names)}: {said}"
    return f"{own} The same fault on {listed(others)}." if others else own
