"""The rows of the tables that `kubectl get events` and `kubectl events` print, with or without their head.

Columns are those of kubectl 1.25 to 1.37 (kubernetes pkg/printers/internalversion, kubectl pkg/cmd/events):

    [EVENT] [NAMESPACE] LAST SEEN  TYPE  REASON  OBJECT [SUBOBJECT  SOURCE]  MESSAGE [FIRST SEEN  COUNT  NAME] [LABELS]

`kubectl get` cuts a message at its first newline and writes kinds small; `kubectl events` does neither.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from lockgate.collect.unwrapped import is_prompt
from lockgate.model.facts import BY_KIND
from lockgate.model.objects import Event, EventSource, Metadata, ObjectReference

_HEADER: Final = re.compile(r"^(?:EVENT +)?(?:NAMESPACE +)?LAST SEEN +TYPE +REASON +OBJECT .*MESSAGE.*$", re.MULTILINE)
_NAME: Final = re.compile(r"(?:LAST|FIRST) SEEN|\S+")
_AGE: Final = r"(?:<unknown>|<invalid>|(?:\d+[smhdy])+)"
# As long as the columns before the object are told apart by blanks of whatever number.
_ROW: Final = re.compile(
    rf"^(?:(?:ADDED|MODIFIED|DELETED)[ \t]+)?(?:(?P<NAMESPACE>[a-z0-9][a-z0-9-]{{0,62}})[ \t]+)?"
    rf"(?P<SEEN>{_AGE}(?: \(x\d+ over {_AGE}\))?)[ \t]+(?P<TYPE>Normal|Warning)[ \t]+(?P<REASON>\S+)[ \t]+"
    r"(?P<OBJECT>[A-Za-z]+/\S+)[ \t]+(?P<REST>\S.*)$",
    re.MULTILINE,
)
# What `-o wide` writes around the message; of the source only the columns tell where it ends.
_SUBOBJECT: Final = re.compile(r"^(spec\.\S+\{[^}\s]*\})[ \t]+")
_SOURCE: Final = re.compile(r"^([\w./-]+(?:, [\w.:-]+)?)[ \t]{2,}(?=\S)")
_BEHIND: Final = re.compile(rf"[ \t]+{_AGE}[ \t]+(?P<count>\d+)[ \t]+\S+\.[0-9a-f]+$")
_TIMES: Final = re.compile(r"\(x(\d+) over")
_OTHER_TABLE: Final = re.compile(r"^[A-Z][A-Z()/-]*(?: {2,}[A-Z][A-Z()/-]*(?: [A-Z]+)*)+\s*$")
_KINDS: Final = {kind.lower(): kind for kind in BY_KIND}
_ENDING: Final = 400  # the longest that stands behind a message: a name is of 253 letters at most
_LONGEST: Final = 4096  # of what follows a row: the API server keeps 1 KB of a message

Cells = dict[str, str]
_Columns = list[tuple[str, int]]


def looks_like_events(text: str) -> bool:
    """Whether a text holds the head of such a table, or a row of one."""
    return _HEADER.search(text) is not None or _ROW.search(text) is not None


def rows(lines: Iterable[str], namespace: str) -> Iterator[tuple[Event, str]]:
    """The event of each row, and when it was seen last, as kubectl words it.

    A table without a column for it is of one namespace, the one that is given.
    """
    for cells in _whole_rows(lines):
        yield _event(cells, namespace), cells.get("LAST SEEN", "")


def _whole_rows(lines: Iterable[str]) -> Iterator[Cells]:
    """Each row with all lines of its message: up to the next row; of the last one up to a blank line."""
    columns: _Columns = []
    row, below, size = Cells(), list[str](), 0
    for line in lines:
        head = _HEADER.match(line) is not None
        following = Cells() if head else _cells(line, columns)
        if not (following or head or is_prompt(line) or _OTHER_TABLE.match(line)):
            below += [line] if size < _LONGEST else []
            size += len(line) + 1
            continue
        yield from _completed(row, below if following else _up_to_blank(below))
        row, below, size = following, [], 0
        columns = [(found[0], found.start()) for found in _NAME.finditer(line)] if head else columns
    yield from _completed(row, _up_to_blank(below))


def _completed(row: Cells, below: list[str]) -> Iterator[Cells]:
    """A row with what stands below it, where `kubectl events` wrote it; none for no row."""
    if row and row["OBJECT"][:1].isupper():
        yield row | {"MESSAGE": "\n".join((row["MESSAGE"], *(line.rstrip() for line in below))).rstrip()}
    elif row:
        yield row


def _up_to_blank(lines: list[str]) -> list[str]:
    return lines[: next((at for at, line in enumerate(lines) if not line.strip()), len(lines))]


def _cells(line: str, columns: _Columns) -> Cells:
    """By the places of the head; by what they look like where there is none, or it stands elsewhere."""
    return _by_place(line, columns) or _by_look(line)


def _by_place(line: str, columns: _Columns) -> Cells:
    """Empty where the columns of a line are not below those of the head."""
    starts = [start for _, start in columns]
    if not starts or not all(start == 0 or line[start - 1 : start] in (" ", "") for start in starts):
        return {}
    ends = (*starts[1:], None)
    cells = {name: line[start:end].strip() for (name, start), end in zip(columns, ends, strict=True)}
    is_row = cells.get("TYPE") in ("Normal", "Warning") and re.fullmatch(r"[A-Za-z]+/\S+", cells.get("OBJECT", ""))
    return cells if is_row and re.match(_AGE, cells.get("LAST SEEN", "")) else {}


def _by_look(line: str) -> Cells:
    found = _ROW.match(line)
    if found is None:
        return {}
    cells = {name: text for name, text in found.groupdict().items() if text and name not in ("SEEN", "REST")}
    cells |= {"LAST SEEN": found["SEEN"], "MESSAGE": found["REST"].strip()}
    behind = _BEHIND.search(cells["MESSAGE"], max(len(cells["MESSAGE"]) - _ENDING, 0))
    return cells if behind is None else cells | _wide(cells["MESSAGE"][: behind.start()], behind["count"])


def _wide(text: str, count: str) -> Cells:
    """Of `-o wide` what stands between the object and the moment of the first event."""
    place = _SUBOBJECT.match(text)
    text = text[place.end() :] if place else text
    source = _SOURCE.match(text)
    return {
        "SUBOBJECT": place[1] if place else "",
        "SOURCE": source[1] if source else "",
        "MESSAGE": text[source.end() :] if source else text,
        "COUNT": count,
    }


def _event(cells: Cells, namespace: str) -> Event:
    kind, _, name = cells["OBJECT"].partition("/")
    namespace = cells.get("NAMESPACE", namespace)
    times = _TIMES.search(cells["LAST SEEN"])
    count = times[1] if times else cells.get("COUNT", "")
    component, _, host = cells.get("SOURCE", "").partition(", ")
    return Event(
        metadata=Metadata(namespace=namespace),
        type=cells["TYPE"],
        reason=cells["REASON"],
        message=cells["MESSAGE"],
        count=int(count) if count.isdecimal() else None,
        source=EventSource(component=component, host=host),
        involved_object=ObjectReference(
            kind=_KINDS.get(kind.lower(), kind), namespace=namespace, name=name, field_path=cells.get("SUBOBJECT", "")
        ),
    )
