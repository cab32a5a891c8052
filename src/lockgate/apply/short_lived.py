"""Pods that are made for one question, and removed whatever happens: an error, an interrupt, a pod that never ran.

Their names are known before they are made, so a pod whose creation was cut off is removed as well. What could not be
removed is told with the command that does it.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

from lockgate.kube.api import Api
from lockgate.kube.errors import ApiError, NotFound, Unreachable
from lockgate.kube.resources import PODS

# Every such pod carries it, so that one command finds all of them: kubectl get pods -A -l lockgate.dev/short-lived
LABEL: Final = "lockgate.dev/short-lived"


class ShortLived:
    """`async with ShortLived(api, tell) as pods: await pods.make(manifest)`; on leaving all of them are removed."""

    def __init__(self, api: Api, tell: Callable[[str], None]) -> None:
        self._api, self._tell = api, tell
        self._made: dict[tuple[str, str], asyncio.Task[Any]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.gather(*(self.remove(*place) for place in list(self._made)))

    async def make(self, manifest: Mapping[str, Any]) -> None:
        """Create a pod. Raises `kube.errors` as the server refuses it."""
        place = manifest["metadata"]["namespace"], manifest["metadata"]["name"]
        # Not cancelled with its caller: whether the pod is there must be known before it is removed.
        self._made[place] = asyncio.ensure_future(self._api.create(manifest))
        await asyncio.shield(self._made[place])

    async def remove(self, namespace: str, name: str) -> None:
        """Remove one of them; it is well when it is gone already."""
        making = self._made.pop((namespace, name))
        with suppress(ApiError, Unreachable):
            await making
        try:
            await self._api.delete(PODS, name, namespace, grace=0)
        except NotFound:
            return
        except (ApiError, Unreachable) as error:
            self._tell(f"pod {namespace}/{name} is still there: kubectl delete pod -n {namespace} {name} ({error})")
