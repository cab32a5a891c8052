"""Workers: a failure is tried again, a bug in one key does not stop the others."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from lockgate.kube.controller import Controller
from lockgate.kube.errors import ApiError, Conflict, Unreachable

Reconcile = Callable[[str], Awaitable[float | None]]


def work(reconcile: Reconcile, *keys: str, seconds: float = 1.0, outcomes: list[bool] | None = None) -> None:
    async def main() -> None:
        told = outcomes if outcomes is not None else []
        controller: Controller[str] = Controller("test", reconcile, workers=2, on_outcome=told.append)
        for key in keys:
            controller.queue.add(key)
        task = asyncio.create_task(controller.run())
        await asyncio.sleep(seconds)
        task.cancel()

    asyncio.run(main())


def test_a_failed_key_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    tries: list[str] = []
    outcomes: list[bool] = []

    async def reconcile(key: str) -> None:
        tries.append(key)
        if len(tries) < 3:
            raise ApiError("get Node a: etcd is down")

    work(reconcile, "a", outcomes=outcomes)
    assert tries == ["a"] * 3
    assert outcomes == [False, False, True]
    assert "etcd is down" in caplog.text


def test_a_conflict_is_tried_again_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    tries: list[str] = []

    async def reconcile(key: str) -> None:
        tries.append(key)
        if len(tries) == 1:
            raise Conflict("the object has been modified")

    work(reconcile, "a", seconds=0.5)
    assert len(tries) == 2
    assert caplog.text == ""


def test_a_bug_met_by_one_key_keeps_its_traceback_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []

    async def reconcile(key: str) -> None:
        if key == "bad":
            raise KeyError("oops")
        done.append(key)

    work(reconcile, "bad", "good", seconds=0.1)
    assert done == ["good"]
    assert "Traceback" in caplog.text


def test_a_key_may_ask_to_be_looked_at_again() -> None:
    tries: list[str] = []

    async def reconcile(key: str) -> float | None:
        tries.append(key)
        return 0.01 if len(tries) < 4 else None

    work(reconcile, "a", seconds=0.3)
    assert len(tries) == 4


def test_a_server_that_does_not_answer_is_told_once_not_for_every_key(caplog: pytest.LogCaptureFixture) -> None:
    async def reconcile(key: str) -> None:
        raise Unreachable("no answer from the API server")

    work(reconcile, *"abcdefgh", seconds=0.1)
    assert caplog.text.count("no answer") == 1
