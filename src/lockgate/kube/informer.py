"""A copy of a kind's objects that follows the server: list, watch with bookmarks, list again when a watch cannot go on.

Level-based: whoever listens is told that an object differs from what it was, never promised to see each step. After a
gap (410, an error, a restarted server) the new list is compared with the copy, so deletions in the gap are told too.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Generic, TypeVar

from lockgate.kube.errors import ApiError, Gone, Unreachable
from lockgate.kube.reader import Reader
from lockgate.kube.resources import Resource
from lockgate.kube.transport import Sleep
from lockgate.model import objects as model

T = TypeVar("T", bound=model.Resource)
Key = tuple[str, str]  # namespace, name
PAUSES: Final = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)  # seconds after failures in a row
log = logging.getLogger(__name__)


class Informer(Generic[T]):
    """The copy of one kind. `run` keeps it current until cancelled; `synced` is set by the first complete list."""

    def __init__(
        self,
        api: Reader,
        resource: Resource[T],
        *,
        namespace: str | None = None,
        label_selector: str = "",
        on_change: Callable[[T | None, T | None], None] = lambda before, after: None,
        idle: float = 150.0,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.resource = resource
        self.synced = asyncio.Event()
        self._api = api
        self._namespace = namespace
        self._label_selector = label_selector
        self._on_change = on_change
        self._idle = idle
        self._sleep = sleep
        self._objects: dict[Key, T] = {}

    def get(self, name: str, namespace: str = "") -> T | None:
        """An object of the copy; None when it does not exist (or has not been seen yet)."""
        return self._objects.get((namespace, name))

    def __iter__(self) -> Iterator[T]:
        return iter(tuple(self._objects.values()))

    def __len__(self) -> int:
        return len(self._objects)

    async def run(self) -> None:
        """List and watch for ever. Failures are logged once each and tried again after a growing pause."""
        failures, complaint = 0, ""
        while True:
            try:
                version = await self._list()
                if complaint:
                    log.info("%s: the API server answers again", self.resource.plural)
                failures, complaint = 0, ""
                await self._watch(version)
            except Gone:
                continue  # too old: list and compare
            except (ApiError, Unreachable) as error:
                if str(error) != complaint:
                    log.warning("%s; trying again", error)
                complaint = str(error)
                await self._sleep(PAUSES[min(failures, len(PAUSES) - 1)])
                failures += 1

    async def _list(self) -> str:
        listing = await self._api.listing(self.resource, self._namespace, self._label_selector)
        self._replace({_key(item): item for item in listing.items})
        self.synced.set()
        return listing.resource_version

    async def _watch(self, version: str) -> None:
        """Follow from a version, reconnecting as long as the server accepts it."""
        quiet = 0
        while True:
            before = version
            async for event in self._api.watch(
                self.resource, self._namespace, self._label_selector, "", version, self._idle
            ):
                version = event.object.metadata.resource_version or version
                if event.change != "BOOKMARK":
                    self._take(event.object, gone=event.change == "DELETED")
            # A server that ends every watch at once must not be asked without a pause.
            quiet = 0 if version != before else quiet + 1
            await self._sleep(PAUSES[min(quiet, len(PAUSES) - 1)])

    def _replace(self, listed: Mapping[Key, T]) -> None:
        for key in self._objects.keys() - listed.keys():
            self._on_change(self._objects.pop(key), None)
        for item in listed.values():
            self._take(item, gone=False)

    def _take(self, item: T, *, gone: bool) -> None:
        key = _key(item)
        before = self._objects.get(key)
        if gone:
            if self._objects.pop(key, None) is not None:
                self._on_change(before, None)
        elif before is None or before.metadata.resource_version != item.metadata.resource_version:
            self._objects[key] = item
            self._on_change(before, item)


def _key(item: model.Resource) -> Key:
    return item.metadata.namespace, item.metadata.name
