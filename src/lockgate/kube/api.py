"""The API server as Lockgate uses it: typed get, list, watch, and writes that say who made them.

    async with Api.connect(context="prod") as api:
        pods = await api.list(PODS, field_selector="spec.nodeName=gpu-a")

Lists come in pages of 500 and start again when the list expires in between. Reading decodes only the fields of our
Structs. Every error is a type of `lockgate.kube.errors` with a text for a person.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Generic, Literal, Self, TypeVar, cast

import msgspec

from lockgate.kube.config import Connection, connect
from lockgate.kube.errors import ApiError, Gone
from lockgate.kube.resources import PODS, Resource, find
from lockgate.kube.transport import Sleep, Transport
from lockgate.kube.watch import WatchEvent, watch
from lockgate.model import objects as model

T = TypeVar("T", bound=model.Resource)
D = TypeVar("D")
Manifest = Mapping[str, Any]
PAGE: Final = 500
RESTARTS: Final = 3
_PATCH_TYPES: Final = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
PatchType = Literal["merge", "json", "strategic"]


class ListMeta(msgspec.Struct, frozen=True, rename="camel", gc=False):
    resource_version: str = ""
    next: str = msgspec.field(default="", name="continue")


class Listing(msgspec.Struct, Generic[T], frozen=True):
    """A whole list and the resource version from which a watch continues it."""

    items: list[T]
    resource_version: str


class _Page(msgspec.Struct, Generic[T], frozen=True):
    metadata: ListMeta = ListMeta()
    items: list[T] | None = None


class Api:
    """A connection to one API server; `async with` closes it."""

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
        doing = _doing("get", resource, name, namespace)
        body = await self._transport.send("GET", resource.path(namespace, name), doing=doing)
        return _decode(body, resource.type, doing)

    async def get_manifest(self, resource: Resource[T], name: str, namespace: str | None = None) -> dict[str, Any]:
        """Read one object with every field, untyped; for what must be kept whole."""
        doing = _doing("get", resource, name, namespace)
        body = await self._transport.send("GET", resource.path(namespace, name), doing=doing)
        return _decode(body, dict[str, Any], doing)

    async def list(
        self,
        resource: Resource[T],
        namespace: str | None = None,
        label_selector: str = "",
        field_selector: str = "",
        keep: Callable[[T], bool] | None = None,
    ) -> list[T]:
        """List all objects, of all namespaces without one; `keep` drops objects as they arrive, to save memory."""
        return (await self.listing(resource, namespace, label_selector, field_selector, keep)).items

    async def listing(
        self,
        resource: Resource[T],
        namespace: str | None = None,
        label_selector: str = "",
        field_selector: str = "",
        keep: Callable[[T], bool] | None = None,
    ) -> Listing[T]:
        """As `list`, with the resource version. A list that expires between pages starts again, at most 3 times."""
        for _ in range(RESTARTS):
            with suppress(Gone):
                return await self._all_pages(resource, namespace, label_selector, field_selector, keep)
        return await self._all_pages(resource, namespace, label_selector, field_selector, keep)

    async def _all_pages(
        self,
        resource: Resource[T],
        namespace: str | None,
        label_selector: str,
        field_selector: str,
        keep: Callable[[T], bool] | None,
    ) -> Listing[T]:
        doing = _doing("list", resource, "", namespace)
        params: dict[str, str | int] = {"limit": PAGE}
        params |= {"labelSelector": label_selector, "fieldSelector": field_selector}
        found: list[T] = []
        while True:
            body = await self._transport.send("GET", resource.path(namespace), doing=doing, params=params)
            page = _decode(body, _Page[resource.type], doing)  # type: ignore[name-defined]  # a type made at run time
            found += filter(keep, page.items or ()) if keep else page.items or ()
            if not page.metadata.next:
                return Listing(found, page.metadata.resource_version)
            params["continue"] = page.metadata.next

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

    async def read(self, path: str) -> Any:
        """GET a path that is not in the table (`/version`, `/apis/resource.k8s.io/v1/...`), decoded untyped."""
        return msgspec.json.decode(await self._transport.send("GET", path, doing=f"get {path}"))

    # --- writing

    async def apply(
        self, body: Manifest, field_manager: str, *, force: bool = True, subresource: str = ""
    ) -> dict[str, Any]:
        """Server-side apply a manifest; its kind must be in the table. Raises Conflict when not `force`."""
        resource = find(body["apiVersion"], body["kind"])
        name, namespace = body["metadata"]["name"], body["metadata"].get("namespace")
        return await self._write(
            "PATCH",
            resource.path(namespace, name, subresource),
            body,
            _doing("apply", resource, name, namespace),
            {"fieldManager": field_manager, "force": "true" if force else "false"},
            _PATCH_TYPES["apply"],
        )

    async def patch(
        self,
        resource: Resource[T],
        name: str,
        body: Manifest | Sequence[Manifest],
        namespace: str | None = None,
        *,
        patch_type: PatchType = "merge",
        field_manager: str = "lockgate",
        subresource: str = "",
    ) -> dict[str, Any]:
        """Patch one object. With `metadata.resourceVersion` in a merge patch, Conflict when it changed meanwhile."""
        return await self._write(
            "PATCH",
            resource.path(namespace, name, subresource),
            body,
            _doing("patch", resource, name, namespace),
            {"fieldManager": field_manager},
            _PATCH_TYPES[patch_type],
        )

    async def create(
        self, body: Manifest, namespace: str | None = None, *, field_manager: str = "lockgate"
    ) -> dict[str, Any]:
        """Create an object. Raises Conflict (`reason` AlreadyExists) when it is there."""
        resource = find(body["apiVersion"], body["kind"])
        metadata = body["metadata"]
        namespace = namespace or metadata.get("namespace")
        doing = _doing("create", resource, metadata.get("name") or metadata.get("generateName", ""), namespace)
        return await self._write("POST", resource.path(namespace), body, doing, {"fieldManager": field_manager})

    async def replace(
        self, body: Manifest, *, field_manager: str = "lockgate", subresource: str = ""
    ) -> dict[str, Any]:
        """Replace an object by `body`, whose resource version must be the current one. Raises Conflict."""
        resource = find(body["apiVersion"], body["kind"])
        name, namespace = body["metadata"]["name"], body["metadata"].get("namespace")
        path = resource.path(namespace, name, subresource)
        return await self._write(
            "PUT", path, body, _doing("replace", resource, name, namespace), {"fieldManager": field_manager}
        )

    async def delete(
        self,
        resource: Resource[T],
        name: str,
        namespace: str | None = None,
        *,
        uid: str = "",
        propagation: Literal["Background", "Foreground", "Orphan"] = "Background",
        grace: int | None = None,
    ) -> None:
        """Delete an object; `uid` refuses (Conflict) to delete another of the same name. Raises NotFound."""
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
        options |= {"preconditions": {"uid": uid}} if uid else {}
        options |= {"gracePeriodSeconds": grace} if grace is not None else {}
        doing = _doing("delete", resource, name, namespace)
        await self._write("DELETE", resource.path(namespace, name), options, doing, {})

    async def _write(
        self,
        method: str,
        path: str,
        body: Manifest | Sequence[Manifest],
        doing: str,
        params: Mapping[str, str | int],
        content_type: str = "application/json",
    ) -> dict[str, Any]:
        content = msgspec.json.encode(body)
        answer = await self._transport.send(
            method, path, doing=doing, params=params, content=content, content_type=content_type
        )
        return _decode(answer, dict[str, Any], doing)


def _doing(verb: str, resource: Resource[Any], name: str, namespace: str | None) -> str:
    where = f" in namespace {namespace}" if resource.namespaced and namespace else ""
    return f"{verb} {resource.kind} {name}{where}" if name else f"{verb} {resource.plural}{where}"


def _decode(body: bytes, kind: type[D], doing: str) -> D:
    try:
        return cast(D, _decoder(cast(Hashable, kind)).decode(body))
    except msgspec.MsgspecError as error:
        raise ApiError(f"{doing}: the answer is not what the API promises: {error}") from error


@lru_cache(maxsize=256)
def _decoder(kind: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)
