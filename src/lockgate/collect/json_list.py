"""The objects of a JSON List one after the other, out of a stream of any length, in little memory.

A list is cut where its next object may begin, by how the first one begins. A cut is right if what lies before it is a
whole JSON array, which the decoder proves; where it is not (the same words inside an object), an earlier one is tried.
"""

import re
from collections.abc import Iterator
from typing import Final, Protocol

import msgspec

from lockgate.collect.errors import InputError

PIECE: Final = 2 << 20  # bytes that are read at once; a shorter document is decoded whole
_LONGEST: Final = 32 << 20  # bytes in which two objects have to begin alike
_TRIES: Final = 12  # cuts that are tried in a piece
_HEAD: Final = 64 << 10  # bytes before the first object
_ITEMS: Final = re.compile(rb'"items"\s*:\s*\[')
_OPENING: Final = re.compile(rb'(?P<space>\s*\{\s*)"(?P<key>[^"]{1,100})"')
_KEYS: Final = (b"apiVersion", b"kind", b"metadata")  # one of them comes first in what programs write
_RAW: Final = msgspec.json.Decoder(list[msgspec.Raw])


class Stream(Protocol):
    """What bytes are read from; at its end there are none."""

    def read(self, size: int, /) -> bytes:
        """About as many bytes as are asked for."""


class Cut:
    """A document that is a long list: `head` is what it says before them, `pieces` gives its objects, and then `rest`
    is the document without them.
    """

    def __init__(self, name: str, start: bytes, stream: Stream) -> None:
        """`start` is what was read of the stream already, at least a piece."""
        self._name, self._stream = name, stream
        self._at = _items_at(start)
        self._document = start
        # The document as far as its list, which is left empty.
        self.head = start[: self._at] + b"]}" if self._at > 1 else b"{}"
        self.rest = b""

    def pieces(self) -> Iterator[list[msgspec.Raw]]:
        """The objects, some hundred at a time; none where the document is no list. Raises InputError."""
        before, left = self._document[: self._at], self._document[self._at :]
        del self._document
        separators = _separators(left)
        while more := self._stream.read(PIECE):
            if separators and (found := _whole_objects(left, separators)):
                yield found[0]
                left = left[found[1] :]
            elif len(left) > _LONGEST:
                raise InputError(
                    f"{self._name}: is no list of objects that can be told apart within {_LONGEST >> 20} MiB; "
                    "kubectl get ... -o json writes one"
                )
            left += more
        self.rest = before + left


def before_the_tear(document: bytes) -> bytes:
    """A list that ends in the middle as a document of the objects that are whole; empty where nothing is torn, or no
    object is whole.
    """
    if (at := _items_at(document)) == 0 or not _is_torn(document):
        return b""
    items = document[at:]
    found = _whole_objects(items, _separators(items))
    head = b'{"items":[' if at == 1 else document[:at]
    return b"%b%b]}" % (head, items[: found[1] - 1]) if found else b""


def _is_torn(document: bytes) -> bool:
    try:
        msgspec.json.decode(document, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError) as error:
        return "truncated" in str(error)
    return False


def _items_at(start: bytes) -> int:
    """Where the items of a document's list begin; 0 where it is none."""
    if start[:1] == b"[":
        return 1
    for found in _ITEMS.finditer(start, 0, _HEAD):
        try:
            # What comes before is a whole object with the list left empty: so the list is the document's own.
            msgspec.json.decode(start[: found.end()] + b"]}", type=dict[str, msgspec.Raw])
        except msgspec.DecodeError:
            continue
        return found.end()
    return 0


def _separators(items: bytes) -> tuple[bytes, ...]:
    """What may stand between two objects: a comma, and the next begins as the first does, or with another known key."""
    opening = _OPENING.match(items)
    if opening is None:
        return ()
    keys = dict.fromkeys((opening["key"], *_KEYS))
    return tuple(b'%b%b"%b"' % (comma, opening["space"], key) for key in keys for comma in (b",", b", "))


def _whole_objects(items: bytes, separators: tuple[bytes, ...]) -> tuple[list[msgspec.Raw], int] | None:
    """As many objects as are whole, and where the next one begins."""
    end = len(items)
    for _ in range(_TRIES):
        end = max((items.rfind(separator, 0, end) for separator in separators), default=0)
        if end <= 0:
            return None
        try:
            return _RAW.decode(b"[%b]" % items[:end]), end + 1
        except msgspec.DecodeError:
            continue
    return None
