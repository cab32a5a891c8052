"""A watch: one long answer whose lines are events, decoded as they come.

It ends without an error when the server closes it or falls silent; whoever watches lists or watches again from the last
resource version (`lockgate.kube.informer`). An `ERROR` event becomes a typed error: `Gone` means list again.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Generic, Literal, TypeVar, cast

import httpx2
import msgspec

from lockgate.kube.errors import Status, error_of
from lockgate.kube.resources import Resource
from lockgate.kube.transport import Params, Transport, error_of_answer
from lockgate.model import objects as model

T = TypeVar("T", bound=model.Resource)
Change = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
_CHANGES: Final = ("ADDED", "MODIFIED", "DELETED")
MAX_LINE: Final = 16 * 1024 * 1024  # etcd holds 1.5 MiB an object; more is not an event


@dataclass(frozen=True, slots=True)
class WatchEvent(Generic[T]):
    """One change. A bookmark carries only the resource version that is reached."""

    change: Change
    object: T


class _Line(msgspec.Struct, frozen=True, gc=False):
    type: str
    object: msgspec.Raw


async def watch(
    transport: Transport, resource: Resource[T], path: str, params: Params, idle: float
) -> AsyncIterator[WatchEvent[T]]:
    """Yield events until the server ends the watch, or nothing (no bookmark either) came for `idle` seconds."""
    doing = f"watch {resource.plural}"
    timeout = httpx2.Timeout(30.0, read=idle)
    try:
        async with transport.connection.client.stream("GET", path, params=dict(params), timeout=timeout) as answer:
            if not answer.is_success:
                raise error_of_answer(answer.status_code, answer.headers, await answer.aread(), doing)
            async for line in _lines(answer):
                yield parse_line(line, resource, doing)
    except (httpx2.ReadTimeout, httpx2.RemoteProtocolError, httpx2.ReadError):
        return  # silent, or cut: the caller continues from the last version it has seen
    except httpx2.RequestError as error:
        raise transport.unreachable(error, doing) from error


def parse_line(line: bytes, resource: Resource[T], doing: str) -> WatchEvent[T]:
    """Decode one event. Raises the typed error of an `ERROR` event, and ApiError for what is no event."""
    try:
        event = _line_decoder().decode(line)
        if event.type == "BOOKMARK":
            # The rest of a bookmark's object is empty in ways that its schema forbids: `"selector": null`.
            reached = msgspec.json.decode(event.object, type=model.Resource).metadata
            return WatchEvent("BOOKMARK", resource.type(metadata=reached))
        if event.type in _CHANGES:
            return WatchEvent(cast(Change, event.type), _object_decoder(resource.type).decode(event.object))
        status = msgspec.json.decode(event.object, type=Status)
    except msgspec.MsgspecError as error:
        raise error_of(Status(message=f"not a watch event: {error}: {line[:200]!r}"), 0, doing) from error
    raise error_of(status, status.code, doing)


async def _lines(answer: httpx2.Response) -> AsyncIterator[bytes]:
    pending = bytearray()
    async for chunk in answer.aiter_bytes():
        pending += chunk
        *lines, rest = pending.split(b"\n") if b"\n" in chunk else (pending,)
        for line in lines:
            if line:
                yield bytes(line)
        pending = bytearray(rest)
        if len(pending) > MAX_LINE:
            raise error_of(Status(message=f"a line of more than {MAX_LINE} bytes"), 0, "watch")


@lru_cache(maxsize=1)
def _line_decoder() -> msgspec.json.Decoder[_Line]:
    return msgspec.json.Decoder(_Line)


@lru_cache
def _object_decoder(kind: type[Any]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)
