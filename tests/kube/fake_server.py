"""An HTTP server on loopback that plays an API server's faults: each request goes to a handler written in the test."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

import httpx2
import msgspec

from lockgate.kube.api import Api
from lockgate.kube.config import Connection
from lockgate.kube.direct import Direct


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass
class Answer:
    """`lines` are sent one by one as a chunked stream; None among them waits for ever (a silent server)."""

    body: object = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    lines: list[object] | None = None
    stream: AsyncIterator[bytes] | None = None
    cut: bool = False  # close the connection without an answer
    hold: asyncio.Event | None = None  # keeps the stream open after the last line until set


def status(code: int, reason: str, message: str = "refused", **details: object) -> Answer:
    """An error as the API server words it."""
    return Answer({"kind": "Status", "code": code, "reason": reason, "message": message, "details": details}, code)


Handler = Callable[[Request], Answer]


class FakeServer:
    """Counts what it was asked in `requests`; `handler` may be replaced at any time."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.requests: list[Request] = []
        self.open: set[asyncio.StreamWriter] = set()
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.add(writer)
        try:
            while (request := await _read(reader)) is not None:
                self.requests.append(request)
                answer = self.handler(request)
                if answer.cut:
                    break
                await _write(writer, answer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went, or the test ended: asyncio would print a cancelled handler
        finally:
            self.open.discard(writer)
            writer.close()

    def drop_connections(self) -> None:
        for writer in list(self.open):
            writer.transport.abort()


@asynccontextmanager
async def fake_server(handler: Handler) -> AsyncIterator[FakeServer]:
    fake = FakeServer(handler)
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield fake
    finally:
        server.close()
        fake.drop_connections()


@asynccontextmanager
async def fake_api(handler: Handler) -> AsyncIterator[tuple[FakeServer, Api, list[float]]]:
    """A fake server, an Api on it, and the list of waits that the Api would have slept."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with fake_server(handler) as fake:
        direct = Direct(ssl.create_default_context())
        client = httpx2.AsyncClient(base_url=fake.url, timeout=5, trust_env=False, transport=direct)
        connection = Connection(client=client, server=fake.url, namespace="default", source="test")
        async with Api(connection, sleep=sleep) as api:
            yield fake, api, waits


async def _read(reader: asyncio.StreamReader) -> Request | None:
    first = await reader.readline()
    if not first:
        return None
    method, target, _ = first.decode().split()
    headers = {}
    while (line := (await reader.readline()).decode().strip()) != "":
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    url = urlsplit(target)
    return Request(method, url.path, dict(parse_qsl(url.query)), headers, body)


def _encode(value: object) -> bytes:
    return value if isinstance(value, bytes) else msgspec.json.encode(value)


async def _write(writer: asyncio.StreamWriter, answer: Answer) -> None:
    headers = {"Content-Type": "application/json", **answer.headers}
    if answer.lines is None and answer.stream is None:
        body = _encode(answer.body)
        headers.setdefault("Content-Length", str(len(body)))
        writer.write(_head(answer.status, headers) + body)
        return await writer.drain()
    writer.write(_head(answer.status, {**headers, "Transfer-Encoding": "chunked"}))
    async for chunk in answer.stream or _chunks(answer.lines or []):
        writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        await writer.drain()
        await asyncio.sleep(0)
    if answer.hold:
        await answer.hold.wait()
    writer.write(b"0\r\n\r\n")
    return await writer.drain()


async def _chunks(lines: list[object]) -> AsyncIterator[bytes]:
    for line in lines:
        if line is None:
            await asyncio.Event().wait()
        yield line if isinstance(line, bytes) else msgspec.json.encode(line) + b"\n"


def _head(code: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {code} X", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode()
