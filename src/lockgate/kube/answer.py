"""One HTTP/1.1 answer, put together as its bytes come: a body whose length is known is received where it belongs.

`room` is where the next bytes go and `took` says how many came, until it `is_whole`. The parts are those of RFC 9112.
"""

import re
from typing import Final

import httpx2

_HEAD: Final = 64 * 1024  # bytes; the longest head
_AT_ONCE: Final = 256 * 1024  # bytes, of a body that is taken piece by piece
_STATUS: Final = re.compile(rb"HTTP/(1\.[01]) ([1-5][0-9]{2})(?: ([^\r\n]*))?")
_FIELD: Final = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\0\r\n]*?)[ \t]*")
_LENGTH: Final = re.compile(rb"[0-9]{1,18}")
_PIECE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")
_NO_BODY: Final = (204, 304)


class Answer:
    """What the server says to one request; raises `httpx2.RemoteProtocolError` where that is no HTTP."""

    def __init__(self) -> None:
        self.version, self.status, self.reason = b"", 0, b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = bytearray()
        self.is_whole = False
        self.is_last = False  # the connection is not to be used again
        self._scratch, self._used = bytearray(_HEAD), 0
        self._missing = 0  # bytes at the end of the body that are still to come, or of a piece of it
        self._next = Answer._head  # takes the next part of what is in the scratch from a place on; the place after it

    def room(self) -> memoryview:
        """Where the next bytes go; never empty before the answer is whole."""
        if self._next is Answer._rest_of_body:
            return memoryview(self.body)[-self._missing :]
        return memoryview(self._scratch)[self._used :]

    def took(self, count: int) -> None:
        """So many bytes are there now."""
        if self._next is Answer._rest_of_body:
            self._missing -= count
            self.is_whole = not self._missing
            return
        self._used += count
        at = -1
        while not self.is_whole and at != (at := self._next(self, max(at, 0))):
            pass
        self.is_last |= self.is_whole and at < self._used  # nothing more was asked for
        self._scratch[: self._used - at] = self._scratch[at : self._used]
        self._used -= at
        if not self.is_whole and self._used == len(self._scratch):
            raise httpx2.RemoteProtocolError("the head of the answer, or a line of it, is too long")

    def ended(self) -> None:
        """Nothing more comes."""
        self.is_last = True
        if not self.status and not self._used:
            raise httpx2.RemoteProtocolError("Server disconnected without sending a response.")
        if self._next is not Answer._until_the_end:
            raise httpx2.RemoteProtocolError("the connection ended in the middle of the answer")
        self.is_whole = True

    # --- the head

    def _head(self, at: int) -> int:
        end = self._scratch.find(b"\r\n\r\n", at, self._used)
        if end < 0:
            return at
        first, *lines = bytes(self._scratch[at:end]).split(b"\r\n")
        status, fields = _STATUS.fullmatch(first), [_FIELD.fullmatch(line) for line in lines]
        if status is None or not all(fields):
            raise httpx2.RemoteProtocolError(f"no HTTP answer: {first[:80]!r}")
        self.version, self.status, self.reason = status[1], int(status[2]), status[3] or b""
        self.headers = [(field[1], field[2]) for field in fields if field]
        if self.status >= 200:  # others come before the answer
            self._frame()
        return end + 4

    def _frame(self) -> None:
        """How the end of the body is known."""
        codings, lengths = self._all(b"transfer-encoding"), set(self._all(b"content-length"))
        self.is_last = self.version == b"1.0" or b"close" in self._all(b"connection")
        if self.status in _NO_BODY:
            self.is_whole = True
        elif codings:
            if codings != [b"chunked"]:
                raise httpx2.RemoteProtocolError(f"unknown transfer encoding {b', '.join(codings)!r}")
            self._next = Answer._length_of_piece
            self._scratch = self._scratch + bytes(_AT_ONCE)
        elif lengths:
            self._missing = _length(lengths)
            self._next = Answer._start_of_body
        else:
            self._next = Answer._until_the_end

    def _all(self, name: bytes) -> list[bytes]:
        values = (value.lower().split(b",") for key, value in self.headers if key.lower() == name)
        return [part.strip() for parts in values for part in parts]

    # --- a body of known length, and one that ends with the connection

    def _start_of_body(self, at: int) -> int:
        """What came with the head."""
        end = min(at + self._missing, self._used)
        self.body = bytearray(self._missing)
        self.body[: end - at] = self._scratch[at:end]
        self._missing -= end - at
        self.is_whole, self._next = not self._missing, Answer._rest_of_body
        return end

    def _rest_of_body(self, at: int) -> int:
        return at

    def _until_the_end(self, at: int) -> int:
        self._missing = self._used - at
        return self._take(at)

    def _take(self, at: int) -> int:
        """As much as is there of what is missing."""
        end = min(at + self._missing, self._used)
        self.body += memoryview(self._scratch)[at:end]
        self._missing -= end - at
        return end

    # --- a body in pieces

    def _length_of_piece(self, at: int) -> int:
        line, end = self._line(at)
        if line is None:
            return at
        told = _PIECE.fullmatch(line)
        if told is None:
            raise httpx2.RemoteProtocolError(f"no length of a piece of the answer: {line[:80]!r}")
        self._missing = int(told[1], 16)
        self._next = Answer._piece if self._missing else Answer._trailer
        return end

    def _piece(self, at: int) -> int:
        end = self._take(at)
        if not self._missing:
            self._next = Answer._end_of_piece
        return end

    def _end_of_piece(self, at: int) -> int:
        line, end = self._line(at)
        if line:
            raise httpx2.RemoteProtocolError("a piece of the answer is longer than its length says")
        if line is not None:
            self._next = Answer._length_of_piece
        return end

    def _trailer(self, at: int) -> int:
        line, end = self._line(at)
        self.is_whole = line == b""
        return end

    def _line(self, at: int) -> tuple[bytes | None, int]:
        """The line there and the place after it; None while its end has not come."""
        end = self._scratch.find(b"\r\n", at, self._used)
        return (None, at) if end < 0 else (bytes(self._scratch[at:end]), end + 2)


def _length(told: set[bytes]) -> int:
    if len(told) > 1 or not _LENGTH.fullmatch(only := next(iter(told))):
        raise httpx2.RemoteProtocolError("the answer has no clear length")
    return int(only)
