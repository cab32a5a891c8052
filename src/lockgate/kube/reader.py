"""Reading from the API server: typed get, list and watch. Nothing here changes anything, by construction.

Lists come in pages of 500 and start again when the list expires in between. Reading decodes only the fields of our
Structs.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar, cast

import msgspec

from lockgate.kube.config import Connection, connect
from lockgate.kube.errors import ApiError, Gone
from lockgate.kube.resources import PODS, Resource
from lockgate.kube.transport import Body, Sleep, Transport
from lockgate.kube.watch import WatchEvent, watch
from lockgate.model import objects as model

T = TypeVar("T", bound=model.Resource)
D = TypeVar("D")
PAGE: Final = 500
RESTARTS: Final = 3


class ListMeta(msgspec.Struct, frozen=True, rename="camel", gc=False):
    resource_version: str = ""
    next: str = msgspec.field(default="", name="continue")


class Listing(msgspec.Struct, Generic[T], frozen=True):
    """A whole list and the resource version from which a watch continues it."""

    items: list[T]
    resource_version: str


class Shape(Generic[D]):
    """How a long list is read in little memory: the type that its items are decoded as, and what makes an object of
    each; either may raise `msgspec.MsgspecError`.
    """

    def __init__(self, wire: Any, make: Callable[[Any], D]) -> None:
        self.wire, self.make = wire, make
        # Not a Page of it: what typing remembers of a generic type it remembers for ever.
        items = ("items", list[wire] | None, None)
        self.page = msgspec.json.Decoder(msgspec.defstruct("Page", [("metadata", ListMeta, ListMeta()), items]))


class _Page(msgspec.Struct, Generic[T], frozen=True):
    metadata: ListMeta = ListMeta()
    items: list[T] | None = None


class Reader:
    """A connection to one API server that only looks; `async with` closes it."""

    def __init__(self, connection: Connection, *, sleep: Sleep = asyncio.sleep) -> None:
        self._transport = Transport(connection, sleep)
        self.server = connection.server
        self.namespace = connection.namespace

    @classmethod
    def connect(
        cls,
        *,
        kubeconfig: Path | None = None,
        context: str | None = None,
        as_user: str | None = None,
        as_groups: Sequence[str] = (),
        timeout: float = 30.0,
    ) -> Self:
        """Use the configuration kubectl would use (see `lockgate.kube.config.connect`); raises ConfigError."""
        return cls(
            connect(kubeconfig=kubeconfig, context=context, as_user=as_user, as_groups=as_groups, timeout=timeout)
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._transport.close()

    # --- reading

    async def get(self, resource: Resource[T], name: str, namespace: str | None = None) -> T:
        """Read one object. Raises NotFound."""
        doing = doing_of("get", resource, name, namespace)
        body = await self._transport.send("GET", resource.path(namespace, name), doing=doing)
        return decode(body, resource.type, doing)

    async def get_manifest(self, resource: Resource[T], name: str, namespace: str | None = None) -> dict[str, Any]:
        """Read one object with every field, untyped; for what must be kept whole."""
        doing = doing_of("get", resource, name, namespace)
        body = await self._transport.send("GET", resource.path(namespace, name), doing=doing)
        return decode(body, dict[str, Any], doing)

    async def list(
        self,
        resource: Resource[T],
        namespace: str | None = None,
        label_selector: str = "",
        field_selector: str = "",
        keep: Callable[[T], bool] | None = None,
        shape: Shape[T] | None = None,
    ) -> list[T]:
        """List all objects, of all namespaces without one; `shape` makes them smaller as they arrive and `keep` drops
        some, to save memory.
        """
        return (await self.listing(resource, namespace, label_selector, field_selector, keep, shape)).items

    async def listing(
        self,
        resource: Resource[T],
        namespace: str | None = None,
        label_selector: str = "",
        field_selector: str = "",
        keep: Callable[[T], bool] | None = None,
        shape: Shape[T] | None = None,
    ) -> Listing[T]:
        """As `list`, with the resource version. A list that expires between pages starts again, at most 3 times."""
        for _ in range(RESTARTS):
            with suppress(Gone):
                return await self._all_pages(resource, namespace, label_selector, field_selector, keep, shape)
        return await self._all_pages(resource, namespace, label_selector, field_selector, keep, shape)

    async def _all_pages(
        self,
        resource: Resource[T],
        namespace: str | None,
        label_selector: str,
        field_selector: str,
        keep: Callable[[T], bool] | None,
        shape: Shape[T] | None,
    ) -> Listing[T]:
        doing = doing_of("list", resource, "", namespace)
        params: dict[str, str | int] = {"limit": PAGE}
        params |= {"labelSelector": label_selector, "fieldSelector": field_selector}
        found: list[T] = []
        while True:
            body = await self._transport.send("GET", resource.path(namespace), doing=doing, params=params)
            items, at = _page(body, resource.type, shape, doing)
            del body  # while the next one is awaited
            found += filter(keep, items) if keep else items
            if not at.next:
                return Listing(found, at.resource_version)
            params["continue"] = at.next

    async def watch(
        self,
        resource: Resource[T],
        namespace: str | None = None,
        label_selector: str = "",
        field_selector: str = "",
        resource_version: str = "",
        idle: float = 150.0,
    ) -> AsyncIterator[WatchEvent[T]]:
        """Yield changes after `resource_version` until the server ends the watch (5 to 10 minutes) or is silent.

        Bookmarks arrive about once a minute, so `idle` seconds without a byte mean a dead connection. Raises Gone
        when the version is too old, and the other errors; a plain end is not an error.
        """
        params = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(random.randint(300, 600)),  # spread the reconnections of many watchers
            "resourceVersion": resource_version,
            "labelSelector": label_selector,
            "fieldSelector": field_selector,
        }
        params = {key: value for key, value in params.items() if value}
        async for event in watch(self._transport, resource, resource.path(namespace), params, idle):
            yield event

    async def logs(
        self,
        namespace: str,
        pod: str,
        container: str = "",
        *,
        previous: bool = False,
        tail: int | None = None,
        limit_bytes: int = 1024 * 1024,
    ) -> str:
        """Read a container's log, the last `tail` lines and at most `limit_bytes`."""
        params: dict[str, str | int] = {"container": container, "limitBytes": limit_bytes}
        params |= {"previous": "true"} if previous else {}
        params |= {"tailLines": tail} if tail is not None else {}
        doing = f"read the log of pod {namespace}/{pod}"
        body = await self._transport.send("GET", PODS.path(namespace, pod, "log"), doing=doing, params=params)
        return body.decode(errors="replace")

    async def through_pod(self, namespace: str, pod: str, port: int, path: str) -> str:
        """GET a path of a pod's own HTTP server through the API server; needs `get` on `pods/proxy`."""
        doing = f"get /{path} of pod {namespace}/{pod} port {port}"
        body = await self._transport.send("GET", PODS.path(namespace, f"{pod}:{port}", f"proxy/{path}"), doing=doing)
        return body.decode(errors="replace")

    async def read(self, path: str, *, accept: str = "") -> Any:
        """GET a path that is not in the table (`/version`, `/apis/resource.k8s.io/v1/...`), decoded untyped."""
        return msgspec.json.decode(await self._transport.send("GET", path, doing=f"get {path}", accept=accept))


def doing_of(verb: str, resource: Resource[Any], name: str, namespace: str | None) -> str:
    where = f" in namespace {namespace}" if resource.namespaced and namespace else ""
    return f"{verb} {resource.kind} {name}{where}" if name else f"{verb} {resource.plural}{where}"


def decode(body: Body, kind: type[D], doing: str) -> D:
    try:
        return cast(D, _decoder(cast(Hashable, kind)).decode(body))
    except msgspec.MsgspecError as error:
        raise _unlike(doing, error) from error


def _page(body: Body, kind: type[T], shape: Shape[T] | None, doing: str) -> tuple[list[T], ListMeta]:
    decoder: msgspec.json.Decoder[Any] = shape.page if shape else _decoder(_page_of(kind))
    try:
        page = decoder.decode(body)
        return list(map(shape.make, page.items or ())) if shape else page.items or [], page.metadata
    except msgspec.MsgspecError as error:
        raise _unlike(doing, error) from error


def _unlike(doing: str, error: msgspec.MsgspecError) -> ApiError:
    return ApiError(f"{doing}: the answer is not what the API promises: {error}")


@lru_cache(maxsize=256)
def _page_of(kind: Hashable) -> Any:
    return _Page[kind]  # type: ignore[valid-type]  # a type made at run time


@lru_cache(maxsize=256)
def _decoder(kind: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)
