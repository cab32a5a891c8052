"""Work that blocks, beside the event loop, in a thread that keeps no program from ending.

Those of `concurrent.futures` are waited for when Python ends, also one that waits for a server that says nothing.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


class Thread:
    """One thread, which begins with the first work, and does one thing after the other."""

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._runs = False

    async def __call__(self, work: Callable[[], T]) -> T:
        """What `work` returns or raises."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def tell(step: Callable[[], None]) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody asks any more
                loop.call_soon_threadsafe(lambda: None if done.done() else step())

        def run() -> None:
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
                told = error
                tell(lambda: done.set_exception(told))
            else:
                tell(lambda: done.set_result(result))

        self._work.put(run)
        if not self._runs:
            self._runs = True
            threading.Thread(target=_run, args=(self._work,), daemon=True).start()
        return await done

    def end(self) -> None:
        """Once all that it was given is done; whoever gives it more waits for ever."""
        self._work.put(None)


def _run(work: "SimpleQueue[Callable[[], None] | None]") -> None:
    while (step := work.get()) is not None:
        step()
        del step  # what it holds is not kept while there is nothing to do
