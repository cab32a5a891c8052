"""A list of events as a terminal shows it, of any length: read line by line, and of many those kept that tell most."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from lockgate.collect.decode import lenient_text
from lockgate.collect.event_rows import looks_like_events, rows
from lockgate.collect.event_sieve import EventSieve
from lockgate.collect.event_table import told_by
from lockgate.collect.json_list import Stream
from lockgate.model.facts import Snapshot

_PIECE: Final = 1 << 20
_LONGEST: Final = 64 << 10  # of a line: the API server cuts messages at 1 KB
_HEAD: Final = 4096
_AGE: Final = re.compile(r"(\d+)([smhdy])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "y": 365 * 86400}
_NOW: Final = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)  # any moment: ages are compared with each other alone
_OLDEST: Final = 10**10  # seconds


def is_event_list(start: bytes) -> bool:
    """Whether a text begins as such a list does."""
    return looks_like_events(lenient_text(start[:_HEAD]))


def parse_event_stream(start: bytes, stream: Stream, namespace: str, asked: str) -> Snapshot:
    """As `event_table.parse_events`, of a text of which only the start was read; `asked` is what is asked about."""
    sieve = EventSieve(asked)
    for event, age in rows(_lines(_pieces(start, stream)), namespace):
        sieve.add(event, _NOW - dt.timedelta(seconds=_seconds(age)))
    told = told_by(sieve.events)
    return msgspec.structs.replace(told, left_out=(*sieve.left_out, *told.left_out))


def _pieces(start: bytes, stream: Stream) -> Iterator[bytes]:
    yield start
    while piece := stream.read(_PIECE):
        yield piece


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    left = b""
    for piece in pieces:
        *whole, left = (left + piece).split(b"\n")
        yield from (lenient_text(line[:_LONGEST].rstrip(b"\r")) for line in whole)
        left = left[:_LONGEST]
    yield lenient_text(left)


def _seconds(age: str) -> int:
    """`2d3h` of `2d3h (x5 over 4d)`; what is no age counts as old."""
    found = _AGE.findall(age.partition(" ")[0])
    return min(sum(int(number) * _SECONDS[unit] for number, unit in found), _OLDEST) if found else _OLDEST
