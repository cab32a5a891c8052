"""Of more events than are kept, those that tell most: about what is asked, warnings, about GPUs, the newest."""

import datetime as dt
import re
from typing import Final

from lockgate.collect.bounds import MAX_EVENTS
from lockgate.model.facts import LeftOut
from lockgate.model.objects import Event

_LONG_AGO: Final = dt.datetime.min.replace(tzinfo=dt.UTC)
# Words by which an event of a GPU pod, its node or an operand is known; the short ones count where they stand alone.
_TELLING: Final = ("gpu", "nvidia", "cuda", "nvml", "runtime for", "device", "exceeded quota")
_SHORT: Final = ("mig", "xid", "cdi")
_ALONE: Final = re.compile(rf"\b(?:{'|'.join(_SHORT)})\b")
_HOW: Final = "kubectl get events -n NAMESPACE -o json, or -A with --field-selector type=Warning"
_Rank = tuple[int, dt.datetime, int]


class EventSieve:
    """Takes any number of events, and keeps a bounded number of them in the order in which they came.

    `asked` is the name of what is asked about: events of it, and of the pods that it owns, come first.
    """

    def __init__(self, asked: str = "", most: int = MAX_EVENTS) -> None:
        self._asked, self._most = asked, most
        self._kept: list[tuple[_Rank, Event]] = []
        self._seen = 0
        self._least: _Rank | None = None  # what a rank has to be above, once something was left out

    def add(self, event: Event, moment: dt.datetime | None = None) -> None:
        """Take one; `moment` is when it was seen last, where the event itself does not say it."""
        rank = (self._worth(event), in_zone(moment or event.last_seen), self._seen)
        self._seen += 1
        if self._least is None or rank > self._least:
            self._kept.append((rank, event))
        if len(self._kept) >= 2 * self._most:
            self._sift()

    @property
    def events(self) -> tuple[Event, ...]:
        """Those that are kept."""
        if len(self._kept) > self._most:
            self._sift()
        return tuple(event for _, event in sorted(self._kept, key=lambda each: each[0][2]))

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """That some were left out, and which."""
        count = len(self.events)
        if count == self._seen:
            return ()
        whose = f"all that name {self._asked}, " if self._asked and self._least and self._least[0] < 8 else ""
        reason = (
            f"{self._seen:,} events were given and {count:,} are kept: {whose}warnings before others, those about GPUs "
            "first, the newest of them"
        )
        return (LeftOut("events", reason, _HOW, decides=self._least is not None and self._least[0] >= _WARNING),)

    def _sift(self) -> None:
        self._kept.sort(key=lambda each: each[0], reverse=True)
        self._least = self._kept[self._most][0]
        del self._kept[self._most :]

    def _worth(self, event: Event) -> int:
        about = event.about
        if self._asked and (about.name.startswith(self._asked) or self._asked in event.text):
            return _ASKED
        warning = _WARNING if event.type != "Normal" else 0
        return warning + (_is_telling(event.text) or _is_telling(about.name))


_WARNING: Final = 2
_ASKED: Final = 8


def _is_telling(text: str) -> bool:
    # Hundreds of thousands of texts: a search for plain words is thirty times as fast as one expression for all.
    low = text.lower()
    if any(word in low for word in _TELLING):
        return True
    return any(word in low for word in _SHORT) and _ALONE.search(low) is not None


def in_zone(moment: dt.datetime | None) -> dt.datetime:
    """A moment that can be compared with others: without a zone it is taken for UTC, none for long ago."""
    if moment is None:
        return _LONG_AGO
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
