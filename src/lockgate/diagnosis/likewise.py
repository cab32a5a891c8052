"""The same fault of several nodes or operands, told once: a sentence names all, and steps say for which they serve."""

from collections.abc import Mapping, Sequence

import msgspec

from lockgate.diagnosis.seen import listed
from lockgate.kit.counted import counted
from lockgate.model.finding import Finding, Remedy

_OPERAND = "daemonset/"
# Marks that stand beside a node's name in a sentence.
_MARKS = ",.;:()\"'"
# So many ways to mend it are told, each for the nodes that want it, and so many steps of all of them.
_MOST_KINDS = 3
_MOST_STEPS = 8
# All operands of an operator are named; of nodes there are thousands.
_MOST_OPERANDS = 12


class _Step(msgspec.Struct):
    """A step as one of them needs it, and the others that need the same with names of their own."""

    name: str
    remedy: Remedy
    others: list[str]

    def told(self) -> Remedy:
        likewise = f" (likewise for {listed(self.others)})" if self.others else ""
        return msgspec.structs.replace(self.remedy, text=f"{self.remedy.text}{likewise}")


def on_all(first: Finding, same: Sequence[Finding]) -> Finding:
    """The finding of one, worded for all that have the same fault; what is about neither node nor operand as it is.

    Those that are mended by the same steps share a sentence; one that wants others has its own.
    """
    every: dict[str, Finding] = {}
    for each in (first, *same):
        if name := _name(each):
            every.setdefault(name, each)
    if not _name(first) or len(every) == 1:
        return first
    steps: list[_Step] = []
    kinds: dict[tuple[int, ...], list[str]] = {}
    for name, finding in every.items():
        kinds.setdefault(tuple(_place(step, name, steps) for step in finding.remedy), []).append(name)
    return msgspec.structs.replace(
        first, summary=_summary(every, list(kinds.values())), remedy=tuple(step.told() for step in steps)
    )


def is_named(finding: Finding) -> bool:
    """Whether a finding is about a node, or an operand's DaemonSet, of which others may have the same fault."""
    return finding.about.startswith(("node/", _OPERAND))


def _name(finding: Finding) -> str:
    """The node, or the operand as its sentence begins (`device-plugin: DESIRED 0`)."""
    if finding.about.startswith(_OPERAND):
        head, mark, _ = finding.summary.partition(": ")
        return head if mark else ""
    return finding.about.partition("/")[2] if is_named(finding) else ""


def _place(remedy: Remedy, name: str, steps: list[_Step]) -> int:
    """Which of the known steps one's step is; one that is new joins them, as long as they can be read."""
    for place, known in enumerate(steps):
        if _is_same(known.remedy, known.name, remedy, name):
            known.others += [name] if remedy != known.remedy else []
            return place
    if len(steps) == _MOST_STEPS:
        return -1
    steps.append(_Step(name, remedy, []))
    return len(steps) - 1


def _is_same(step: Remedy, name: str, other: Remedy, there: str) -> bool:
    """Whether two need the same step, but for their names."""
    mine, theirs = step.text.split(), other.text.split()
    return len(mine) == len(theirs) and all(
        a == b or (a.strip(_MARKS) == name and b.strip(_MARKS) == there) for a, b in zip(mine, theirs, strict=True)
    )


def _summary(every: Mapping[str, Finding], kinds: Sequence[Sequence[str]]) -> str:
    told = " ".join(_sentence(every, names) for names in kinds[:_MOST_KINDS])
    left = sum(map(len, kinds[_MOST_KINDS:]))
    what = "more operand" if _are_operands(every) else "more node"
    return f"{told} And {counted(left, what)}." if left else told


def _sentence(every: Mapping[str, Finding], names: Sequence[str]) -> str:
    """`a, b: what both have`, or the first one's own sentence and where else it is so."""
    first, *others = names
    own = every[first].summary
    said = own.removeprefix(f"{first}: ")
    if said != own and all(every[name].summary == f"{name}: {said}" for name in others):
        return f"{_listed(names, every)}: {said}"
    also = "The same holds for" if _are_operands(every) else "The same fault on"
    return f"{own} {also} {_listed(others, every)}." if others else own


def _listed(names: Sequence[str], every: Mapping[str, Finding]) -> str:
    return listed(names, _MOST_OPERANDS) if _are_operands(every) else listed(names)


def _are_operands(every: Mapping[str, Finding]) -> bool:
    return next(iter(every.values())).about.startswith(_OPERAND)
