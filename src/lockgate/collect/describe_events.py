"""The rows below `Events:` in a description, whose columns stand below each other as kubectl's tabwriter puts them.

A row tells whose words it has, or nobody's: then its message stands where those of its neighbours do. A message of
several lines ends the columns, and those below it have widths of their own.
Source: k8s.io/kubectl v0.37 pkg/describe: DescribeEvents, tabbedString.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from lockgate.collect.describe_lines import EVENT
from lockgate.model.objects import Event, Metadata, ObjectReference

_HEAD: Final = re.compile(r"^\s*Type\s+Reason\s+Age\s+(?P<source>From)\s+(?P<text>Message)\s*$")
_WORDS: Final = re.compile(r"(?P<source>\S+)(?:[ \t]+(?P<text>(?s:.*)))?$")
# What an event is about within its pod; newer kubectls write it before the message.
_PLACE: Final = re.compile(r"^(?P<field>spec\.\w+\{[^}\s]+\}): ")
_PADDING: Final = 2  # blanks behind the longest cell of a column


class _Row(msgspec.Struct, frozen=True):
    """A row as its words are found: what stands behind the age is a source and a message, or a message alone."""

    found: re.Match[str]
    words: re.Match[str]

    @property
    def source(self) -> int:
        """The column of the first word behind the age."""
        return self.found.start("rest")

    @property
    def text(self) -> int:
        """The column of the second one; -1 where there is none."""
        at = self.words.start("text")
        return at if at < 0 else self.source + at

    @property
    def gap(self) -> int:
        """The blanks before the first word."""
        return self.source - self.found.end("age")


def events_about(about: ObjectReference, lines: Iterable[str]) -> Iterator[Event]:
    """The events among whole lines, those of an `Events:` section."""
    block, column, alone = list[_Row](), -1, False
    for line in lines:
        if head := _HEAD.match(line):
            column = head.start("text")
        found = EVENT.match(line)
        words = _WORDS.match(found["rest"]) if found else None
        if found is None or words is None:
            continue
        block.append(_Row(found, words))
        if "\n" in line:
            yield from _events(about, block, column, alone=alone)
            block, column, alone = [], -1, True
    yield from _events(about, block, column, alone=alone)


def _events(about: ObjectReference, block: Sequence[_Row], column: int, *, alone: bool) -> Iterator[Event]:
    """Of rows whose columns are those of one another; `column` is where messages begin, as the head says, or -1.

    `alone` tells that no row and no head above had a part in the widths.
    """
    first = min((row.source for row in block), default=0)
    columns = {column} if column >= 0 else {row.text for row in block if row.source == first}
    for row in block:
        is_message = columns == {row.source} or (alone and len(block) == 1 and row.gap >= 2 * _PADDING)
        yield _event(about, row, is_message=is_message)


def _event(about: ObjectReference, row: _Row, *, is_message: bool) -> Event:
    text = (row.found["rest"] if is_message else row.words["text"] or "").strip()
    place = _PLACE.match(text)
    return Event(
        metadata=Metadata(namespace=about.namespace),
        type=row.found["type"],
        reason=row.found["reason"],
        message=text[place.end() :] if place else text,
        involved_object=msgspec.structs.replace(about, field_path=place["field"]) if place else about,
        reporting_component="" if is_message else row.words["source"],
    )
