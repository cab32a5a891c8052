"""Runs one look at a cluster from plain code."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


def run_once(look: Awaitable[T]) -> T:
    """What a coroutine returns, run in an event loop of its own.

    Not plain `asyncio.run`: up to Python 3.11 it ends with `signal.getsignal`, which puts the `repr` of the main task
    with its result into the text of an error that nobody sees (`signal._int_to_enum`). For the facts of a large cluster
    that is gigabytes of text. So the task that asyncio knows returns nothing.
    """
    found: list[T] = []

    async def keep() -> None:
        found.append(await look)

    asyncio.run(keep())
    return found[0]
