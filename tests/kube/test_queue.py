"""The work queue: no key twice at once, none lost, failures wait longer each time."""

import asyncio
from collections.abc import Awaitable, Callable

from hypothesis import given
from hypothesis import strategies as st

from lockgate.kube.queue import LONGEST, WorkQueue


def run(body: Callable[[WorkQueue[str]], Awaitable[None]]) -> None:
    async def main() -> None:
        await body(WorkQueue())

    asyncio.run(asyncio.wait_for(main(), 10))


def test_a_key_added_twice_is_worked_on_once() -> None:
    async def body(queue: WorkQueue[str]) -> None:
        queue.add("a")
        queue.add("a")
        assert await queue.get() == "a"
        assert len(queue) == 0

    run(body)


def test_a_key_added_while_it_is_worked_on_comes_again_afterwards_and_not_before() -> None:
    async def body(queue: WorkQueue[str]) -> None:
        queue.add("a")
        await queue.get()
        queue.add("a")
        queue.add("b")
        assert await queue.get() == "b"
        queue.done("a")
        assert await queue.get() == "a"

    run(body)


def test_failures_wait_twice_as_long_up_to_a_minute() -> None:
    async def body(queue: WorkQueue[str]) -> None:
        assert [queue.retry("a") for _ in range(4)] == [0.2, 0.4, 0.8, 1.6]
        assert [queue.retry("a") for _ in range(20)][-1] == LONGEST
        queue.forget("a")
        assert queue.retry("a") == 0.2

    run(body)


def test_the_earlier_of_two_appointments_stands() -> None:
    async def body(queue: WorkQueue[str]) -> None:
        queue.add_after("a", 0.01)
        queue.add_after("a", 60)
        assert await queue.get() == "a"
        queue.done("a")
        queue.add_after("a", 60)
        queue.add_after("a", 0.01)
        assert await queue.get() == "a"

    run(body)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=40))
def test_whatever_happens_each_added_key_is_worked_on_and_never_by_two_at_once(steps: list[tuple[str, bool]]) -> None:
    async def body(queue: WorkQueue[str]) -> None:
        working: set[str] = set()
        due: set[str] = set()
        for key, finish in steps:
            queue.add(key)
            due.add(key)
            if finish and working:
                queue.done(working.pop())
            elif len(queue) and due - working:
                got = await queue.get()
                assert got not in working
                working.add(got)
                due.discard(got)
        for key in working:
            queue.done(key)
        while due:
            key = await queue.get()
            due.discard(key)
            queue.done(key)

    run(body)
