"""Answers that are wanted whole are read by `http.client`, in one piece; all else goes as httpx2 sends it.

A list of 100,000 pods is 600 MB: httpx2 copies each byte five times, which costs as much as decoding them. The client
above decides who asks, with which headers and what an answer means; here one request is sent and its answer read.
"""

import asyncio
import http.client
import select
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final

import httpx2

from lockgate.kube.beside import Thread

WHOLE: Final = "lockgate.whole"  # extension of a request without a body whose answer is read at once
_MOST: Final = 100  # connections at a time
_ROOM: Final = 64 * 1024  # bytes, at first, for a body whose length is not told
_KEPT: Final = 5.0  # seconds that a connection without a request is kept
_Place = tuple[str, str, int | None]


class Direct(httpx2.AsyncBaseTransport):
    """Connections to servers that no proxy stands before; TLS is that of `context`."""

    def __init__(self, context: ssl.SSLContext) -> None:
        context.set_alpn_protocols(["http/1.1"])
        self._context = context
        self._others: httpx2.AsyncHTTPTransport | None = None
        self._idle: dict[_Place, list[_Wire]] = {}
        self._turns = asyncio.Semaphore(_MOST)
        self._is_closed = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:  # type: ignore[explicit-override]
        """As any transport of httpx2."""
        if not request.extensions.get(WHOLE):
            self._others = self._others or httpx2.AsyncHTTPTransport(verify=self._context)
            return await self._others.handle_async_request(request)
        async with self._turns:
            return await self._answered(request)

    async def aclose(self) -> None:  # type: ignore[explicit-override]
        """Close every connection; one that is still asked is closed with its answer."""
        self._is_closed = True
        for wires in self._idle.values():
            for wire in wires:
                wire.close()
        self._idle.clear()
        if self._others is not None:
            await self._others.aclose()

    async def _answered(self, request: httpx2.Request) -> httpx2.Response:
        place = request.url.scheme, request.url.host, request.url.port
        wire = self._kept(place) or _Wire(self._connection(place))
        try:
            head = await wire.beside(lambda: wire.ask(request))
            body = await _whole(wire, head)
        except BaseException:  # whoever gives up does not wait for the thread either
            wire.give_up()
            raise
        if wire.is_usable and not self._is_closed:
            self._idle.setdefault(place, []).append(wire)
        else:
            wire.close()
        return httpx2.Response(
            head.status,
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in head.getheaders()],
            stream=_Body(body),
            extensions={"reason_phrase": head.reason.encode("latin-1")},
        )

    def _kept(self, place: _Place) -> "_Wire | None":
        """The connection that was heard last; those that are of no more use are closed."""
        wires = self._idle.get(place, [])
        for gone in [wire for wire in wires if not wire.is_usable]:
            wires.remove(gone)
            gone.close()
        return wires.pop() if wires else None

    def _connection(self, place: _Place) -> http.client.HTTPConnection:
        scheme, host, port = place  # without a port http.client takes the end of an IPv6 address for one
        if scheme == "https":
            return http.client.HTTPSConnection(host, port or http.client.HTTPS_PORT, context=self._context)
        return http.client.HTTPConnection(host, port or http.client.HTTP_PORT)


class _Wire:
    """One connection, of which one thing at a time is asked, in a thread of its own: a new one costs as much as an
    answer of some hundred KiB, once for each part of it.
    """

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self._socket: socket.socket | None = None  # also once http.client has handed it over to an answer
        self._heard = 0.0
        self._asking = threading.Lock()
        self._given_up = False
        self.beside = Thread()

    @property
    def is_usable(self) -> bool:
        """Whether the server still listens, as far as one can know: it says nothing that was not asked."""
        there = self._connection.sock
        if there is None or time.monotonic() - self._heard > _KEPT:
            return False
        says = select.poll()
        says.register(there, select.POLLIN)
        return not says.poll(0)

    def ask(self, request: httpx2.Request) -> http.client.HTTPResponse:
        """The head of what the server answers; the time given is seconds without a byte. Raises what httpx2 raises."""
        with self._alone():
            return self._asked(request)

    def read(self, head: http.client.HTTPResponse, room: memoryview) -> int:
        """How many bytes of the body came into the room: fewer than it has at the end alone."""
        with self._alone(), _as_httpx(httpx2.ReadTimeout, httpx2.ReadError):
            return head.readinto(room)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            with self._asking:
                self._check_wanted()
                yield
                self._heard = time.monotonic()
        except Exception:
            self.close()
            raise
        finally:
            if self._given_up:
                self.close()

    def _check_wanted(self) -> None:
        if self._given_up:
            raise httpx2.NetworkError("nobody waits for the answer")

    def _asked(self, request: httpx2.Request) -> http.client.HTTPResponse:
        timeout: Mapping[str, float | None] = request.extensions.get("timeout", {})
        connection = self._connection
        with _as_httpx(httpx2.LocalProtocolError, httpx2.LocalProtocolError):
            target = request.url.raw_path.decode("ascii")
            connection.putrequest(request.method, target, skip_host=True, skip_accept_encoding=True)
            for name, value in request.headers.raw:
                connection.putheader(name, value)
        if connection.sock is None:
            connection.timeout = timeout.get("connect")
            with _as_httpx(httpx2.ConnectTimeout, httpx2.ConnectError):
                connection.connect()
            self._socket = connection.sock
            self._check_wanted()
        with _as_httpx(httpx2.ReadTimeout, httpx2.ReadError):
            connection.sock.settimeout(timeout.get("read"))
            connection.endheaders()
            head = connection.getresponse()
        if head.length == 0:  # nobody reads it to its end, which ends it for http.client
            head.close()
        return head

    def give_up(self) -> None:
        """End what its thread may be waiting for; the thread closes it, or nobody asks and it is closed here."""
        self._given_up = True
        if self._socket is not None:
            with suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        if self._asking.acquire(blocking=False):
            self.close()
            self._asking.release()

    def close(self) -> None:
        self._connection.close()
        self.beside.end()


class _Body(httpx2.AsyncByteStream):
    """What is there already, in one piece."""

    def __init__(self, body: bytearray) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[Any]:  # type: ignore[explicit-override]
        yield self._body


async def _whole(wire: _Wire, head: http.client.HTTPResponse) -> bytearray:
    """The body. Its memory is taken here: of what a thread takes glibc keeps more, for each thread."""
    length = head.length
    body = _room(length)
    used = 0
    while used < len(body):
        room = memoryview(body)[used:]
        took = await wire.beside(partial(wire.read, head, room))
        is_full = took == len(room)
        room.release()  # not where one gives up: the thread has it still
        used += took
        if not is_full:
            break
        if length is None:
            body += bytes(len(body))
    if length is not None and used < length:
        raise httpx2.RemoteProtocolError("the connection ended in the middle of the answer")
    del body[used:]
    return body


def _room(length: int | None) -> bytearray:
    try:
        return bytearray(_ROOM if length is None else length)
    except (MemoryError, OverflowError) as error:
        raise httpx2.RemoteProtocolError(f"there is no memory for an answer of {length} bytes") from error


@contextmanager
def _as_httpx(timeout: type[httpx2.RequestError], broken: type[httpx2.RequestError]) -> Iterator[None]:
    """What goes wrong, as httpx2 tells it."""
    try:
        yield
    except http.client.HTTPException as error:
        raise httpx2.RemoteProtocolError(str(error) or type(error).__name__) from error
    except TimeoutError as error:
        raise timeout("") from error
    except (OSError, ValueError) as error:
        raise broken(str(error)) from error
