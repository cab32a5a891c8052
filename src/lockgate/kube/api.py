"""The API server as Lockgate uses it: what `Reader` reads, and writes that say who made them.

    async with Api.connect(context="prod") as api:
        pods = await api.list(PODS, field_selector="spec.nodeName=gpu-a")

Every error is a type of `lockgate.kube.errors` with a text for a person.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeVar

import msgspec

from lockgate.kube.reader import Reader, decode, doing_of
from lockgate.kube.resources import Resource, find
from lockgate.model import objects as model

T = TypeVar("T", bound=model.Resource)
Manifest = Mapping[str, Any]
PatchType = Literal["merge", "json", "strategic"]
_PATCH_TYPES: Final = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


class Api(Reader):
    """A connection to one API server that reads and writes; `async with` closes it."""

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
            doing_of("apply", resource, name, namespace),
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
            doing_of("patch", resource, name, namespace),
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
        doing = doing_of("create", resource, metadata.get("name") or metadata.get("generateName", ""), namespace)
        return await self._write("POST", resource.path(namespace), body, doing, {"fieldManager": field_manager})

    async def replace(
        self, body: Manifest, *, field_manager: str = "lockgate", subresource: str = ""
    ) -> dict[str, Any]:
        """Replace an object by `body`, whose resource version must be the current one. Raises Conflict."""
        resource = find(body["apiVersion"], body["kind"])
        name, namespace = body["metadata"]["name"], body["metadata"].get("namespace")
        path = resource.path(namespace, name, subresource)
        return await self._write(
            "PUT", path, body, doing_of("replace", resource, name, namespace), {"fieldManager": field_manager}
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
        doing = doing_of("delete", resource, name, namespace)
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
        return decode(answer, dict[str, Any], doing)
