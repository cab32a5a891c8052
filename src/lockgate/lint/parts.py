"""A manifest's documents apart: an edit in one is simulated on that one alone, so that long files are healed quickly.

No rule looks from one document into another to find fault: what stands in the others can only excuse it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lockgate.lint.subject import Subject

# At the start of a line these end a document, whatever stands around them (YAML 1.1, 9.2).
_START: Final = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_OTHER: Final = re.compile(r"^(?:%|\.\.\.)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Change:
    """The one stretch of a text in which another one differs: from `start` to `end` stands `new` there."""

    start: int
    end: int
    new: str


def change(old: str, new: str) -> Change:
    """What of a text must be replaced to get another one."""
    start = 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    behind = 0
    while behind < shorter - start and old[-1 - behind] == new[-1 - behind]:
        behind += 1
    return Change(start, len(old) - behind, new[start : len(new) - behind])


def part_at(text: str, made: Change) -> tuple[int, int] | None:
    """The bounds of the document in which a change lies; None where it lies in none alone."""
    if _OTHER.search(text):
        return None
    bounds = [0, *(found.start() for found in _START.finditer(text) if found.start()), len(text)]
    for start, end in pairwise(bounds):
        if start <= made.start and made.end <= end:
            return start, end
    return None


def narrowed(subject: "Subject", files: Mapping[str, str]) -> tuple["Subject", dict[str, str]] | None:
    """A subject of the one document that an edit changes, and the edit of it; None where that cannot be told."""
    if not subject.holds_manifests or len(files) != 1:
        return None
    ((path, new),) = files.items()
    old = subject.text(path)
    made = change(old, new)
    bounds = part_at(old, made)
    if bounds is None:
        return None
    start, end = bounds
    before = old[start:end]
    after = old[start : made.start] + made.new + old[made.end : end]
    objects = [
        d for d in subject.manifests.documents if d.file < path or (d.file == path and d.item.span.start < start)
    ]
    return replace(subject, files={path: before}, first_object=len(objects)), {path: after}


def together(text: str, edited: Iterable[str]) -> str:
    """Several edits of one text at once: the first of each document; others wait for the next turn."""
    made: dict[tuple[int, int], Change] = {}
    for new in edited:
        one = change(text, new)
        bounds = part_at(text, one)
        if bounds is None:
            return new
        made.setdefault(bounds, one)
    for one in sorted(made.values(), key=lambda each: each.start, reverse=True):
        text = text[: one.start] + one.new + text[one.end :]
    return text
