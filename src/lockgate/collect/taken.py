"""The objects that were read of one input so far, by section: within bounds, of the events those that tell most."""

from collections.abc import Iterable
from typing import Any

from lockgate.collect.bounds import MAX_OBJECTS
from lockgate.collect.cut_lists import cut
from lockgate.collect.errors import InputError
from lockgate.collect.event_sieve import EventSieve
from lockgate.model.facts import LeftOut, Missing

_EVENTS = "events"


class Taken:
    """`name` is what the objects come from, `asked` what is asked about."""

    def __init__(self, name: str, asked: str = "") -> None:
        self._name, self._events = name, EventSieve(asked)
        self._sections: dict[str, list[Any]] = {}
        self._count = 0
        self.cuts: dict[str, Missing] = {}  # lists of which a part was given, by section

    def add(self, section: str, objects: Iterable[Any]) -> None:
        """Take objects of a section, be it none; raises InputError where there are too many."""
        kept = self._sections.setdefault(section, [])
        for each in objects:
            if section == _EVENTS:
                self._events.add(each)
                continue
            kept.append(each)
            self._count += 1
            if self._count > MAX_OBJECTS:
                raise InputError(f"{self._name}: holds more than {MAX_OBJECTS:,} objects; send those of one namespace")

    def note_cut(self, section: str, name: str, more: int) -> None:
        """Remember that the list of a section in a file goes on elsewhere."""
        self.cuts[section] = cut(name, section, more)

    def __bool__(self) -> bool:
        return bool(self._sections)

    @property
    def sections(self) -> dict[str, tuple[Any, ...]]:
        """Each section of which something was read."""
        found = {section: tuple(objects) for section, objects in self._sections.items()}
        return found | ({_EVENTS: self._events.events} if _EVENTS in found else {})

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """What was read and not kept."""
        return self._events.left_out
