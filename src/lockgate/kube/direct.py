"""Answers that are wanted whole, straight from the socket into one buffer; all else goes as httpx2 sends it.

A list of 100,000 pods is 600 MB: httpx2 copies each byte five times, which costs as much as decoding them. The client
above decides who asks, with which headers and what an answer means; here one request is written and its answer read.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from typing import Any, Final, cast

import httpx2

from lockgate.kube.answer import Answer

WHOLE: Final = "lockgate.whole"  # extension of a request without a body whose answer is read at once
_MOST: Final = 100  # connections at a time
_KEPT: Final = 5.0  # seconds that a connection without a request is kept
_ILLEGAL: Final = bytes({*range(32), 127} - {9})  # in the value of a header


class Direct(httpx2.AsyncBaseTransport):
    """Connections to servers that no proxy stands before; TLS is that of `context`."""

    def __init__(self, context: ssl.SSLContext) -> None:
        context.set_alpn_protocols(["http/1.1"])
        self._context = context
        self._others: httpx2.AsyncHTTPTransport | None = None
        self._idle: dict[tuple[str, str, int], list[_Wire]] = {}
        self._turns = asyncio.Semaphore(_MOST)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:  # type: ignore[explicit-override]
        """As any transport of httpx2."""
        if not request.extensions.get(WHOLE):
            self._others = self._others or httpx2.AsyncHTTPTransport(verify=self._context)
            return await self._others.handle_async_request(request)
        async with self._turns:
            answer = await self._answered(request)
        return httpx2.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(answer.body),
            extensions={"http_version": b"HTTP/" + answer.version, "reason_phrase": answer.reason},
        )

    async def aclose(self) -> None:  # type: ignore[explicit-override]
        """Close every connection."""
        for wires in self._idle.values():
            for wire in wires:
                wire.close()
        self._idle.clear()
        await asyncio.sleep(0)  # asyncio closes sockets in its next turn
        if self._others is not None:
            await self._others.aclose()

    async def _answered(self, request: httpx2.Request) -> Answer:
        place = request.url.scheme, request.url.host, request.url.port or (443 if request.url.scheme == "https" else 80)
        timeout = request.extensions.get("timeout", {})
        written = _written(request)
        wire = self._kept(place) or await self._connected(place, timeout.get("connect"))
        answer = await wire.ask(written, timeout.get("read"))
        if not answer.is_last:
            self._idle.setdefault(place, []).append(wire)
        return answer

    def _kept(self, place: tuple[str, str, int]) -> "_Wire | None":
        wires = self._idle.get(place, ())
        while wires:
            wire = wires.pop()
            if wire.is_usable:
                return wire
            wire.close()
        return None

    async def _connected(self, place: tuple[str, str, int], timeout: float | None) -> "_Wire":
        scheme, host, port = place
        context = self._context if scheme == "https" else None
        try:
            async with asyncio.timeout(timeout):
                made = asyncio.get_running_loop().create_connection(
                    _Wire, host, port, ssl=context, happy_eyeballs_delay=0.25
                )
                return (await made)[1]
        except TimeoutError as error:
            raise httpx2.ConnectTimeout("") from error
        except OSError as error:
            raise httpx2.ConnectError(str(error)) from error


class _Body(httpx2.AsyncByteStream):
    """What is there already, in one piece."""

    def __init__(self, body: bytearray) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[Any]:  # type: ignore[explicit-override]
        yield self._body


class _Wire(asyncio.BufferedProtocol):
    """One connection, of which one thing at a time is asked."""

    def __init__(self) -> None:
        self._now = asyncio.get_running_loop().time
        self._heard = self._now()
        self._answer: Answer | None = None
        self._told: asyncio.Future[None] | None = None
        self._unasked = bytearray(1)  # room for what a server says without having been asked

    @property
    def is_usable(self) -> bool:
        """Whether the server still listens, as far as one can know."""
        return not self._transport.is_closing() and self._now() - self._heard < _KEPT

    def close(self) -> None:
        self._transport.abort()

    async def ask(self, request: bytes, timeout: float | None) -> Answer:
        """What the server answers; `timeout` is seconds without a byte."""
        self._answer = answer = Answer()
        self._told, self._heard = asyncio.get_running_loop().create_future(), self._now()
        try:
            self._transport.write(request)
            await self._until(self._told, timeout)
        finally:
            self._told.cancel()
            if not answer.is_whole or answer.is_last:
                self.close()
            self._answer = self._told = None
        return answer

    async def _until(self, told: asyncio.Future[None], timeout: float | None) -> None:
        while not told.done():
            left = timeout and self._heard + timeout - self._now()
            if left is not None and left <= 0:
                raise httpx2.ReadTimeout("")
            await asyncio.wait((told,), timeout=left)
        told.result()

    # --- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:  # type: ignore[explicit-override]
        self._transport = cast(asyncio.Transport, transport)

    def get_buffer(self, sizehint: int) -> memoryview:  # type: ignore[explicit-override]
        return memoryview(self._unasked) if self._answer is None or self._answer.is_whole else self._answer.room()

    def buffer_updated(self, nbytes: int) -> None:  # type: ignore[explicit-override]
        self._heard = self._now()
        if self._answer is None or self._answer.is_whole:
            self.close()
            return
        self._tell(lambda answer: answer.took(nbytes))

    def connection_lost(self, exc: Exception | None) -> None:  # type: ignore[explicit-override]
        if exc is not None and self._told is not None and not self._told.done():
            self._told.set_exception(httpx2.ReadError(str(exc)))
        self._tell(Answer.ended)

    def _tell(self, step: Callable[[Answer], None]) -> None:
        """Let the answer take what came; whoever waits hears that it is whole, or why it never will be."""
        if self._answer is None or self._told is None or self._told.done():
            return
        try:
            step(self._answer)
        except httpx2.RemoteProtocolError as error:
            self._told.set_exception(error)
            return
        if self._answer.is_whole:
            self._told.set_result(None)


def _written(request: httpx2.Request) -> bytes:
    """The request as it is sent; nothing of a header can end it early."""
    for _, value in request.headers.raw:
        if value.translate(None, _ILLEGAL) != value:
            raise httpx2.LocalProtocolError(f"Illegal header value {value!r}")
    fields = (b"%b: %b\r\n" % field for field in request.headers.raw)
    return b"%b %b HTTP/1.1\r\n%b\r\n" % (request.method.encode(), request.url.raw_path, b"".join(fields))
