"""Every problem that the rules see in a subject, those left out that follow from another one."""

from collections.abc import Iterator, Sequence

from lockgate.lint.rule import LintRule, Problem
from lockgate.lint.subject import Subject

Seen = tuple[LintRule, Problem]


def problems(subject: Subject, rules: Sequence[LintRule]) -> tuple[Seen, ...]:
    """The problems in the order of rules; a muted rule's problem goes when it speaks of the same as what mutes it."""
    found = [(rule, problem) for rule in rules for problem in _of(rule, subject)]
    return tuple(seen for seen in found if not _is_muted(seen, found))


def _of(rule: LintRule, subject: Subject) -> Iterator[Problem]:
    views = {name: subject.view(name) for name in rule.needs}
    if all(view is not None for view in views.values()):
        yield from rule.check(**views)


def _is_muted(seen: Seen, found: Sequence[Seen]) -> bool:
    rule, problem = seen
    return any(rule.id in other.mutes and _speak_of_one(problem, by) for other, by in found)


def _speak_of_one(problem: Problem, other: Problem) -> bool:
    """Whether two mark one file, and one pod template in it where they name one."""
    files = {mark.file for mark in problem.marks} & {mark.file for mark in other.marks}
    return bool(files) and problem.within == other.within
