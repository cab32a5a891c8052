"""One request to the cluster at a time: its answer, or Missing where it may not be read or is not known there."""

import asyncio
from typing import Any, TypeVar

from lockgate.collect.sharing import Sharing
from lockgate.kube.api import Api
from lockgate.kube.errors import ApiError, Forbidden, NotFound
from lockgate.kube.resources import Resource as Kind
from lockgate.model.facts import Log, Missing
from lockgate.model.objects import Pod, Resource

T = TypeVar("T", bound=Resource)
_LOG_LINES = 50
_LOG_BYTES = 64 * 1024
# Where a kind is not served, and there is another way to what it tells.
_INSTEAD = {"gpunodestates": "kubectl gpu collect --probe reads it from the nodes; or install Lockgate's agents"}


class Reader:
    """Reads from one cluster; what RBAC refuses becomes Missing with the permission that lacks."""

    def __init__(self, api: Api) -> None:
        self._api, self._sharing = api, Sharing()
        self._served: asyncio.Future[frozenset[str] | None] | None = None

    async def target(self, resource: Kind[T], name: str, namespace: str) -> T | None:
        """The target, None when there is none; without permission for it there is no diagnosis at all."""
        try:
            return await self._api.get(resource, name, namespace)
        except NotFound:
            return None

    async def get(self, resource: Kind[T], name: str, namespace: str | None = None) -> Any:
        """One object, None when there is none, Missing when it may not be read."""
        try:
            return await self._api.get(resource, name, namespace)
        except NotFound as error:
            return unknown(resource) if error.unknown_kind else None
        except Forbidden as error:
            return _missing(error, _permission("get", resource, namespace))

    async def list(self, resource: Kind[T], namespace: str | None = None, field_selector: str = "") -> Any:
        """A list, or Missing when it may not be read or the cluster does not know the kind."""
        try:
            shape = self._sharing.shape(resource.type)
            return tuple(await self._api.list(resource, namespace, field_selector=field_selector, shape=shape))
        except NotFound:
            return unknown(resource)
        except Forbidden as error:
            return _missing(error, _permission("list", resource, namespace))

    async def serves(self, resource: Kind[Any]) -> bool:
        """Whether the cluster serves a kind's group in its version; asked once, with one small request."""
        if self._served is None:
            self._served = asyncio.ensure_future(self._groups())
        served = await self._served
        return not resource.group or served is None or resource.api_version in served

    async def _groups(self) -> frozenset[str] | None:
        """Every group and version; None where that may not be read, so that only trying tells."""
        try:
            answer = await self._api.read("/apis")
        except NotFound:
            return frozenset()
        except Forbidden:
            return None
        return frozenset(v["groupVersion"] for g in answer.get("groups", ()) for v in g.get("versions", ()))

    async def log(self, pod: Pod, container: str, previous: bool = False) -> Log | Missing:
        """The tail of a container's log, of its current or its previous run."""
        place = (pod.namespace, pod.name, container)
        try:
            text = await self._api.logs(*place, previous=previous, tail=_LOG_LINES, limit_bytes=_LOG_BYTES)
        except Forbidden as error:
            return _missing(error, f"RBAC: get on pods/log in namespace {pod.namespace}")
        except ApiError as error:
            return _missing(error, f"kubectl logs -n {pod.namespace} {pod.name} -c {container}")
        return Log(*place, text, previous)


def is_unknown(found: object) -> bool:
    """Whether an answer says that the cluster does not serve the kind, or not in this version."""
    return isinstance(found, Missing) and found.unserved


def _missing(error: ApiError, how: str) -> Missing:
    return Missing(str(error), how, refused=isinstance(error, Forbidden))


def unknown(resource: Kind[Any]) -> Missing:
    """What is known of a kind that the cluster does not serve."""
    return Missing(
        f"the cluster does not know {resource.plural}",
        _INSTEAD.get(resource.plural) or f"install what defines {resource.kind} of {resource.api_version}",
        unserved=True,
    )


def _permission(verb: str, resource: Kind[Any], namespace: str | None) -> str:
    group = f".{resource.group}" if resource.group else ""
    scope = f" in namespace {namespace}" if namespace else " in the whole cluster" if resource.namespaced else ""
    return f"RBAC: {verb} on {resource.plural}{group}{scope}"
