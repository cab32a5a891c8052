"""Facts of one pod again and again, each time that the server tells of a change of it or of an event about it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from lockgate.collect.live import Access, connect, look
from lockgate.kube import resources as kinds
from lockgate.kube.api import Api
from lockgate.kube.errors import Forbidden
from lockgate.kube.follow import follow
from lockgate.model.facts import Snapshot
from lockgate.model.objects import Pod

# Changes come in bursts (a status and two events): they are looked at together.
QUIET: Final = 0.3


async def until_ended(api: Api, name: str, namespace: str) -> Pod:
    """The pod once it has succeeded or failed; raises NotFound when somebody removes it before."""
    changed = asyncio.Event()
    following = asyncio.ensure_future(follow(api, kinds.PODS, namespace, f"metadata.name={name}", changed.set))
    try:
        while True:
            await changed.wait()
            changed.clear()
            pod = await api.get(kinds.PODS, name, namespace)
            if pod.status.phase in ("Succeeded", "Failed"):
                return pod
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def watch_pod(
    access: Access, name: str, namespace: str, seen: Callable[[Snapshot], bool], told: Callable[[str], None]
) -> None:
    """Call `seen` with fresh facts at first and at every change, until it says True.

    A pod that is not there, or no longer, is only a change. Raises `kube.errors`: Forbidden where pods may not be
    watched, Unreachable when there is no answer at first.
    """
    async with connect(access) as api:
        namespace = namespace or api.namespace or "default"
        changed = asyncio.Event()
        following: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(follow(api, kinds.PODS, namespace, f"metadata.name={name}", changed.set, told)),
            asyncio.ensure_future(_events(api, name, namespace, changed, told)),
        ]
        try:
            await _until(seen, changed, following, lambda: look(api, "Pod", name, namespace))
        finally:
            for task in following:
                task.cancel()
            await asyncio.gather(*following, return_exceptions=True)


async def _events(api: Api, name: str, namespace: str, changed: asyncio.Event, told: Callable[[str], None]) -> None:
    """Events about it; without the right to watch them the pod's own status tells what it can."""
    with suppress(Forbidden):
        await follow(api, kinds.EVENTS, namespace, f"involvedObject.name={name}", changed.set, told)
    await asyncio.Event().wait()


async def _until(
    seen: Callable[[Snapshot], bool],
    changed: asyncio.Event,
    following: list[asyncio.Future[Any]],
    read: Callable[[], Awaitable[Snapshot]],
) -> None:
    while True:
        waiting: asyncio.Future[Any] = asyncio.ensure_future(changed.wait())
        await asyncio.wait({waiting, *following}, return_when=asyncio.FIRST_COMPLETED)
        for failed in (task for task in following if task.done()):
            waiting.cancel()
            failed.result()
        await asyncio.sleep(QUIET)
        changed.clear()
        if seen(await read()):
            return
