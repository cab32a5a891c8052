"""Runs a coroutine so that whatever ends the program (Ctrl-C, SIGTERM, a closed terminal) lets it clean up first."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

T = TypeVar("T")
_ENDINGS: Final = (signal.SIGTERM, signal.SIGHUP)


def run(work: Coroutine[Any, Any, T]) -> T:
    """What the coroutine returns; raises KeyboardInterrupt once it has cleaned up after a signal."""
    try:
        return asyncio.run(_listening(work))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _listening(work: Coroutine[Any, Any, T]) -> T:
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    for ending in _ENDINGS:
        loop.add_signal_handler(ending, task.cancel if task else loop.stop)
    return await work
