"""The one copy of what many objects say: known by its JSON, and found without it where it is what was said last.

Replicas follow one another with the same JSON. To compare that with what the last of them said, field by field as it
came, costs a third of writing it out and looking it up.
"""

from collections.abc import Callable, Hashable
from typing import Any

import msgspec


class Room:
    """How many bytes of JSON all copies may be known by; beyond them they begin anew."""

    def __init__(self, most: int) -> None:
        self._most, self.used = most, 0
        self._copies: list[Copies] = []

    def copies(self, kind: Any, wire: Any, made: Callable[[Any], Any] = lambda value: value) -> "Copies":
        """Those of one type. `wire` is how they come, mostly undecoded; `made` changes a value once it is decoded."""
        self._copies.append(Copies(self, kind, wire, made))
        return self._copies[-1]

    def take(self, size: int) -> None:
        """So many bytes more; what was given out stays as it is."""
        self.used += size
        if self.used > self._most:
            self.used = 0
            for each in self._copies:
                each.forget()


class Copies:
    """The values of one type."""

    def __init__(self, room: Room, kind: Any, wire: Any, made: Callable[[Any], Any]) -> None:
        self._room = room
        self._encode = msgspec.json.Encoder().encode
        self._decode, self._undecoded = msgspec.json.Decoder(kind).decode, msgspec.json.Decoder(wire).decode
        self._made = made
        self._known: dict[bytes, _Copy] = {}
        self._last: dict[Hashable, _Copy] = {}

    def of(self, said: Any, by: Hashable) -> Any:
        """The copy of what `by` said; raises `msgspec.MsgspecError` where that is no value of the type."""
        last = self._last.get(by)
        if last is not None and last.said == said:
            return last.value
        key = self._encode(said)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _Copy(key, self._made(self._decode(key)))
            self._room.take(len(key))
        else:  # more will say it
            if found.said is None:
                found.said = self._undecoded(found.key)
            self._last[by] = found
        return found.value

    def forget(self) -> None:
        """Begin anew."""
        self._known, self._last = {}, {}


class _Copy:
    """A value, its JSON, and once it is said again how it comes."""

    __slots__ = ("key", "said", "value")

    def __init__(self, key: bytes, value: Any) -> None:
        self.key, self.value = key, value
        self.said: Any = None
