"""A waiver: somebody knows a finding at some place, says why it may stay, and until when. It is shown, never hidden.

    devices/unhealthy at node/gpu-7 until 2026-12-31 -- RMA 4711, replaced in January

is how one is written where there is one line for it; `at` and `until` may be left out, the reason may not.
"""

import datetime as dt
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

import msgspec

_WORDS: Final = re.compile(
    r"\s*(?P<id>[a-z0-9/*?-]+)(?:\s+at\s+(?P<where>\S+))?(?:\s+until\s+(?P<until>\S+))?(?:\s+--\s*(?P<reason>\S.*?))?\s*"
)
EXPECTED: Final = "ID [at WHERE] [until YYYY-MM-DD] -- REASON"


class WaiverError(ValueError):
    """What was written is no waiver; the text says what is wrong with it."""


class Waiver(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`id` and `where` are shell patterns; `where` names objects (`node/gpu-7`, `ml/train-*`) or files.

    `until` is the last day on which it holds, None for ever; `source` is where it was written.
    """

    id: str
    where: str = "*"
    reason: str
    until: dt.date | None = None
    source: str = ""

    def holds(self, today: dt.date) -> bool:
        """Whether it has not expired."""
        return self.until is None or today <= self.until

    def covers(self, id: str, places: Iterable[str]) -> bool:
        """Whether it speaks of a finding of this id at one place, which may be spelt in several ways."""
        return fnmatchcase(id, self.id) and any(fnmatchcase(place, self.where) for place in places)


def parse_waiver(text: str, where: str, source: str) -> Waiver:
    """One line; `where` holds where the line names no place. Raises WaiverError."""
    found = _WORDS.fullmatch(text)
    if found is None:
        raise WaiverError(f'"{text.strip()}" is no waiver: expected {EXPECTED}')
    return waiver(found["id"], found["where"] or where, found["reason"] or "", found["until"] or "", source)


def waiver(id: str, where: str, reason: str, until: str, source: str) -> Waiver:
    """A waiver of its parts as a person wrote them; raises WaiverError for what none can be without."""
    if not id:
        raise WaiverError("has no id: expected that of a finding, or a pattern")
    if not reason.strip():
        raise WaiverError(f"{id}: has no reason, and without one no effect: expected {EXPECTED}")
    return Waiver(id=id, where=where or "*", reason=reason.strip(), until=_date(id, until), source=source)


def _date(id: str, text: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text) if text else None
    except ValueError:
        raise WaiverError(f'{id}: until "{text}" is no date: expected YYYY-MM-DD') from None
