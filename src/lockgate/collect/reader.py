"""One request to the cluster at a time: its answer, or Missing where it may not be read or is not known there."""

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


class Reader:
    """Reads from one cluster; what RBAC refuses becomes Missing with the permission that lacks."""

    def __init__(self, api: Api) -> None:
        self._api, self._sharing = api, Sharing()

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
            return _unknown(resource) if error.unknown_kind else None
        except Forbidden as error:
            return _missing(error, _permission("get", resource, namespace))

    async def list(self, resource: Kind[T], namespace: str | None = None, field_selector: str = "") -> Any:
        """A list, or Missing when it may not be read or the cluster does not know the kind."""
        try:
            shape = self._sharing.shape(resource.type)
            return tuple(await self._api.list(resource, namespace, field_selector=field_selector, shape=shape))
        except NotFound:
            return _unknown(resource)
        except Forbidden as error:
            return _missing(error, _permission("list", resource, namespace))

    async def log(self, pod: Pod, container: str, previous: bool = False) -> Log | Missing:
        """The tail of a container's log, of its current or its previous run."""
        place = (pod.namespace, pod.name, container)
        try:
            text = await self._api.logs(*place, previous=previous, tail=_LOG_LINES, limit_bytes=_LOG_BYTES)
        except ApiError as error:
            return _missing(error, f"RBAC: get on pods/log in namespace {pod.namespace}")
        return Log(*place, text, previous)


def _missing(error: ApiError, how: str) -> Missing:
    return Missing(str(error), how)


def _unknown(resource: Kind[Any]) -> Missing:
    return Missing(
        f"the cluster does not know {resource.plural}",
        f"install what defines {resource.kind} of {resource.api_version}",
    )


def _permission(verb: str, resource: Kind[Any], namespace: str | None) -> str:
    group = f".{resource.group}" if resource.group else ""
    scope = f" in namespace {namespace}" if namespace else " in the whole cluster" if resource.namespaced else ""
    return f"RBAC: {verb} on {resource.plural}{group}{scope}"
