"""One request to the API server: retries what is safe to retry, and ends in an answer or a typed error.

Retried: 429 always (nothing was done), with the server's `Retry-After`; 500, 503, 504 that carry one; a broken
connection for reads. Never a write whose fate is unknown: the reconciler looks again instead.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import httpx2

from lockgate.kube.config import Connection
from lockgate.kube.direct import WHOLE
from lockgate.kube.errors import ApiError, Unreachable, error_of, parse_status

Sleep = Callable[[float], Awaitable[None]]
Params = Mapping[str, str | int]
Body = bytes | bytearray

ATTEMPTS: Final = 5
MAX_WAIT: Final = 30.0  # seconds; a server that asks for more is told to be busy
_BUSY: Final = (429, 500, 503, 504)


class Transport:
    """Sends requests over one connection; `sleep` waits between attempts (a test passes its own)."""

    def __init__(self, connection: Connection, sleep: Sleep = asyncio.sleep) -> None:
        self.connection = connection
        self._sleep = sleep

    async def close(self) -> None:
        await self.connection.client.aclose()

    async def send(
        self,
        method: str,
        path: str,
        *,
        doing: str,
        params: Params | None = None,
        content: bytes | None = None,
        content_type: str = "application/json",
        accept: str = "",
    ) -> Body:
        """Send and return the body of a 2xx answer. `doing` names the call in errors: `list pods`.

        Raises the classes of `lockgate.kube.errors`.
        """
        headers = {"Content-Type": content_type} if content is not None else {}
        headers |= {"Accept": accept} if accept else {}
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer, body = await self._sent(method, path, params=_text(params), content=content, headers=headers)
            except (httpx2.RequestError, httpx2.InvalidURL, ssl.SSLError) as error:
                if method == "GET" and attempt == 1 and _was_cut(error):
                    continue
                raise self.unreachable(error, doing) from error
            if answer.is_success:
                return body
            refusal = error_of_answer(answer.status_code, answer.headers, body, doing)
            if attempt == ATTEMPTS or not is_busy(refusal):
                raise refusal
            await self._sleep(refusal.retry_after or float(2 ** (attempt - 1)))
        raise AssertionError("the loop returns or raises")

    async def _sent(self, method: str, path: str, **parts: Any) -> tuple[httpx2.Response, Body]:
        """The answer and its body, which is not copied where it comes in one piece."""
        whole = {WHOLE: True} if method == "GET" else {}
        async with self.connection.client.stream(method, path, extensions=whole, **parts) as answer:
            pieces: list[Body] = [piece async for piece in answer.aiter_bytes()]
        return answer, pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def unreachable(self, error: Exception, doing: str) -> Unreachable:
        """Say which server, from which configuration, did not answer and how."""
        text = str(error) or type(error).__name__
        where = f"{self.connection.server} ({self.connection.source})"
        return Unreachable(f"{doing}: no answer from the API server {where}: {text}")


def error_of_answer(code: int, headers: Mapping[str, str], body: Body, doing: str) -> ApiError:
    """Turn an HTTP error answer into its type, with the seconds that the server asks to wait."""
    status = parse_status(body)
    asked = headers.get("Retry-After", "")
    retry_after = float(asked) if asked.isdecimal() else None
    if retry_after is None and status.details and status.details.retry_after_seconds:
        retry_after = float(status.details.retry_after_seconds)
    return error_of(status, code, doing, retry_after)


def is_busy(error: ApiError) -> bool:
    """Whether the server asked to come back later, soon enough to wait for it."""
    if error.code not in _BUSY or (error.retry_after or 0) > MAX_WAIT:
        return False
    return error.code == 429 or error.retry_after is not None


def _was_cut(error: Exception) -> bool:
    """A kept connection that the server closed meanwhile: the request was not answered, a read may be repeated."""
    return isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError | httpx2.WriteError)


def _text(params: Params | None) -> dict[str, Any]:
    return {key: str(value) for key, value in (params or {}).items() if value != ""}
