"""Findings that a person does not want to see: a comment with a reason in the file, or `--ignore ID[=PATHGLOB]`.

    # lockgate: ignore containerd/cdi-off -- the plugin of this pool hands out device specs

The comment counts for its own line and the next one, and for the whole file when it stands before everything else.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from lockgate.lint.problems import Seen
from lockgate.lint.rule import Mark
from lockgate.lint.subject import Subject
from lockgate.model.waiver import Waiver

WITHOUT_REASON = "lint/ignored-without-reason"
_COMMENT = re.compile(r"#\s*lockgate:\s*ignore\s+(?P<id>[a-z0-9/*-]+)(?:\s+--\s*(?P<reason>\S.*?))?\s*$")


@dataclass(frozen=True, slots=True)
class Ignore:
    """One `--ignore`, or a waiver, which has a reason: ids and places are compared as shell patterns."""

    id: str
    paths: str = "*"
    reason: str = ""

    @classmethod
    def parse(cls, text: str) -> "Ignore":
        """From `containerd/cdi-off` or `containerd/cdi-off=*/old/*`."""
        name, _, paths = text.partition("=")
        return cls(name.strip(), paths.strip() or "*")

    @classmethod
    def of(cls, waiver: Waiver) -> "Ignore":
        """A waiver: a place is a printed path or a node."""
        until = f", until {waiver.until}" if waiver.until else ""
        return cls(waiver.id, waiver.where, f"{waiver.reason} ({waiver.source}{until})")

    @property
    def said(self) -> str:
        """Why what it covers is not shown."""
        return self.reason or f"--ignore {self.id}{'' if self.paths == '*' else '=' + self.paths}"


def reason_for(subject: Subject, seen: Seen, ignores: Sequence[Ignore]) -> str | None:
    """Why a problem is not shown; None when it is."""
    rule, problem = seen
    shown = [*(subject.show(mark.file) for mark in problem.marks), subject.name, f"node/{subject.name}"]
    for ignore in ignores:
        if fnmatchcase(rule.id, ignore.id) and any(fnmatchcase(path, ignore.paths) for path in shown):
            return ignore.said
    return next((reason for mark in problem.marks if (reason := _in_file(subject, mark, rule.id))), None)


def unreasoned(subject: Subject) -> Iterator[Mark]:
    """Comments that would suppress something and do not say why."""
    for path in sorted(subject.files):
        for number, _, reason in _comments(subject.text(path)):
            if not reason:
                yield Mark(path, number)


def _in_file(subject: Subject, mark: Mark, rule_id: str) -> str:
    text = subject.text(mark.file)
    head = _head(text)
    for number, pattern, reason in _comments(text):
        near = number in (mark.line, mark.line - 1) or number <= head
        if reason and near and fnmatchcase(rule_id, pattern):
            return reason
    return ""


def _comments(text: str) -> Iterator[tuple[int, str, str]]:
    if "lockgate:" not in text:
        return
    for number, line in enumerate(text.splitlines(), 1):
        found = _COMMENT.search(line)
        if found:
            yield number, found["id"], found["reason"] or ""


def _head(text: str) -> int:
    """How many lines at the top are comments or blank."""
    count = 0
    for line in text.splitlines():
        if line.strip() and not line.lstrip("\ufeff").lstrip().startswith("#"):
            break
        count += 1
    return count
