"""How the plugin sees the GPUs: NVML on one thread, its events on another, everything delivered on the event loop."""

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from lockgate.gpu.events import EventThread
from lockgate.gpu.library import UnavailableError
from lockgate.gpu.nvml import Nvml
from lockgate.gpu.topology import Pair, read_pairs
from lockgate.gpu.values import Event, Gpu, Snapshot

_T = TypeVar("_T")


class Eyes:
    """The driver of one root. `deliver` is called on the event loop with each event."""

    def __init__(self, driver_root: Path, sys_root: Path, deliver: Callable[[Event], None]) -> None:
        self._nvml = Nvml(driver_root, sys_root)
        self._deliver = deliver
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="nvml")
        self._events: EventThread | None = None

    @property
    def stale(self) -> bool:
        """Whether the driver root now holds another driver: the process must start again to use it."""
        return self._nvml.stale

    async def look(self) -> Snapshot | str:
        """Every GPU now, or why the driver does not answer; it is opened anew at the next look then."""
        try:
            return await self._on_thread(self._snapshot)
        except UnavailableError as error:
            await self._shut()
            return str(error)

    def _snapshot(self) -> Snapshot:
        self._nvml.open()
        return self._nvml.snapshot()

    async def pairs(self, gpus: tuple[Gpu, ...]) -> tuple[Pair, ...]:
        """How near these GPUs are to each other."""
        return await self._on_thread(lambda: read_pairs(gpus))

    async def listen(self, gpus: tuple[Gpu, ...]) -> None:
        """Hear the events of these GPUs from now on; one that came back must be registered again."""
        wanted = frozenset(gpu.uuid for gpu in gpus)
        if self._events is not None and self._events.uuids == wanted:
            return
        await self._stop_listening()
        if wanted:
            loop = asyncio.get_running_loop()
            self._events = EventThread(wanted, lambda event: self._hear(loop, event))
            self._events.start()

    def _hear(self, loop: asyncio.AbstractEventLoop, event: Event) -> None:
        """Called on the events' thread."""
        with contextlib.suppress(RuntimeError):  # the loop has closed: the process ends
            loop.call_soon_threadsafe(self._deliver, event)

    async def close(self) -> None:
        """Stop both threads."""
        await self._shut()
        self._thread.shutdown(wait=False)

    async def _shut(self) -> None:
        """Events first: their thread uses NVML until it has ended."""
        await self._stop_listening()
        await self._on_thread(self._nvml.close)

    async def _stop_listening(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            await asyncio.to_thread(events.stop)

    async def _on_thread(self, call: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)
