"""Work beside the event loop: what comes back, in which order, and that no program waits for it."""

import asyncio
import subprocess
import sys
import threading
from functools import partial

import pytest

from lockgate.kube.beside import Thread


def test_what_the_work_returns_or_raises_comes_back() -> None:
    async def body() -> None:
        beside = Thread()
        assert await beside(lambda: 7) == 7
        with pytest.raises(OSError, match="no route"):
            await beside(_fails)
        assert await beside(lambda: "still there") == "still there"

    asyncio.run(body())


def test_one_thread_does_one_thing_after_the_other() -> None:
    done: list[int] = []

    def work(number: int) -> int:
        done.append(number)
        return threading.get_ident()

    async def body() -> list[int]:
        beside = Thread()
        return await asyncio.gather(*(beside(partial(work, number)) for number in range(20)))

    named = asyncio.run(body())
    assert done == list(range(20))
    assert len(set(named)) == 1
    assert named[0] != threading.get_ident()


def test_a_thread_ends_when_it_is_told_to_and_not_before_its_work_is_done() -> None:
    async def body() -> threading.Thread:
        beside = Thread()
        thread = await beside(threading.current_thread)
        held = asyncio.ensure_future(beside(lambda: 7))
        await asyncio.sleep(0)
        beside.end()
        assert await held == 7
        return thread

    thread = asyncio.run(body())
    thread.join(10)
    assert not thread.is_alive()


def test_who_gives_up_waits_no_longer_and_the_next_work_is_done() -> None:
    async def body() -> None:
        beside, goes_on = Thread(), threading.Event()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(beside(goes_on.wait), 0.05)
        goes_on.set()
        assert await beside(lambda: 7) == 7

    asyncio.run(body())


def test_a_program_ends_while_work_blocks() -> None:
    program = (
        "import asyncio, time\n"
        "from lockgate.kube.beside import Thread\n"
        "async def main():\n"
        "    await asyncio.wait_for(Thread()(lambda: time.sleep(60)), 0.1)\n"
        "asyncio.run(main())\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert "TimeoutError" in ended.stderr


def _fails() -> int:
    raise OSError("no route")
