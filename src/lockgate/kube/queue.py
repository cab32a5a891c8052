"""A work queue of keys: each key is worked on by one worker at a time, and added at most once while it waits.

Semantics of client-go's workqueue: a key that is added while it is being worked on is worked on again afterwards; a key
that failed waits 0.2 s, then twice as long each time, at most 60 s.
"""

import asyncio
from collections import deque
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)

FIRST: Final = 0.2
LONGEST: Final = 60.0


class WorkQueue(Generic[K]):
    """`get` a key, work, then `done` it; `retry` or `add_after` before `done` when it must be looked at again."""

    def __init__(self) -> None:
        self._ready: deque[K] = deque()
        self._waiting: set[K] = set()
        self._working: set[K] = set()
        self._failures: dict[K, int] = {}
        self._timers: dict[K, asyncio.TimerHandle] = {}
        self._arrived = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, key: K) -> None:
        """Ask for work on a key, now."""
        if key in self._waiting:
            return
        self._waiting.add(key)
        if key not in self._working:
            self._offer(key)

    def add_after(self, key: K, seconds: float) -> None:
        """Ask for work on a key later; an earlier appointment stands."""
        loop = asyncio.get_running_loop()
        timer = self._timers.get(key)
        if timer and timer.when() <= loop.time() + seconds:
            return
        if timer:
            timer.cancel()
        self._timers[key] = loop.call_later(seconds, self._due, key)

    def retry(self, key: K) -> float:
        """Ask for work on a key that failed; returns the seconds until then."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        seconds: float = min(FIRST * 2 ** min(failures, 20), LONGEST)
        self.add_after(key, seconds)
        return seconds

    def forget(self, key: K) -> None:
        """A key succeeded: its next failure waits briefly again."""
        self._failures.pop(key, None)

    async def get(self) -> K:
        """The next key; whoever gets it must call `done`."""
        while not self._ready:
            self._arrived.clear()
            await self._arrived.wait()
        key = self._ready.popleft()
        self._waiting.discard(key)
        self._working.add(key)
        return key

    def done(self, key: K) -> None:
        """Work on a key ended, however; if it was added meanwhile it is offered again."""
        self._working.discard(key)
        if key in self._waiting:
            self._offer(key)

    def _offer(self, key: K) -> None:
        self._ready.append(key)
        self._arrived.set()

    def _due(self, key: K) -> None:
        self._timers.pop(key, None)
        self.add(key)
