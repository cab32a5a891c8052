"""Works a queue: one coroutine a worker, each key reconciled until it succeeds."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from lockgate.kube.errors import ApiError, Conflict, Unreachable
from lockgate.kube.queue import K, WorkQueue

log = logging.getLogger(__name__)
_R = TypeVar("_R")


class Controller(Generic[K]):
    """`reconcile(key)` returns the seconds after which to look again, or None to wait for a change.

    `on_outcome` hears of each pass (True: it succeeded), for metrics.
    """

    def __init__(
        self,
        name: str,
        reconcile: Callable[[K], Awaitable[float | None]],
        *,
        workers: int = 1,
        on_outcome: Callable[[bool], None] = lambda succeeded: None,
    ) -> None:
        self.name = name
        self.queue: WorkQueue[K] = WorkQueue()
        self._reconcile = reconcile
        self._workers = workers
        self._cut_off = False
        self._on_outcome = on_outcome

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for number in range(self._workers):
                group.create_task(self._work(), name=f"{self.name}-{number}")

    async def _work(self) -> None:
        while True:
            key = await self.queue.get()
            try:
                again = await self._reconcile(key)
            except Unreachable as error:
                self._failed(key, str(error), expected=self._cut_off)
                self._cut_off = True
            except ApiError as error:
                self._failed(key, str(error), expected=isinstance(error, Conflict))
            except Exception:
                log.exception("%s %s: unexpected failure", self.name, key)
                self._failed(key, "unexpected failure", expected=True)
            else:
                self._cut_off = False
                self.queue.forget(key)
                self._on_outcome(True)
                if again is not None:
                    self.queue.add_after(key, again)
            finally:
                self.queue.done(key)

    def _failed(self, key: K, text: str, *, expected: bool) -> None:
        """Try again, and say so unless it is `expected`: a conflict is the ordinary end of reading an old copy, and a
        server that does not answer is told once, not for each of 5,000 nodes."""
        seconds = self.queue.retry(key)
        self._on_outcome(False)
        if not expected:
            log.warning("%s %s: %s; trying again in %.1f s", self.name, key, text, seconds)
