"""Copies that follow the server through restarts, expired versions and silence."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from lockgate.kube.informer import Informer
from lockgate.kube.resources import NODES
from lockgate.model.objects import Node
from tests.kube.fake_server import FakeServer, fake_api
from tests.kube.small_cluster import SmallCluster

Seen = list[tuple[str, str]]
Body = Callable[[SmallCluster, Informer[Node], Seen, FakeServer], Awaitable[None]]


def change(before: Node | None, after: Node | None) -> tuple[str, str]:
    if before is None:
        return ("new", after.name if after else "")
    return ("gone", before.name) if after is None else ("changed", after.name)


def run(body: Body, **options: Any) -> None:
    async def main() -> None:
        cluster, seen = SmallCluster(), Seen()
        cluster.put("/api/v1/nodes/a", {})
        async with fake_api(cluster.handle) as (server, api, _):
            informer = Informer(
                api, NODES, on_change=lambda before, after: seen.append(change(before, after)), sleep=brief, **options
            )
            task = asyncio.create_task(informer.run())
            await informer.synced.wait()
            try:
                await body(cluster, informer, seen, server)
            finally:
                task.cancel()

    asyncio.run(asyncio.wait_for(main(), 20))


async def brief(seconds: float) -> None:
    await asyncio.sleep(min(seconds, 0.01))


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():
            await asyncio.sleep(0.005)


def test_changes_reach_the_copy_and_the_listener() -> None:
    async def body(cluster: SmallCluster, informer: Informer[Node], seen: Seen, server: FakeServer) -> None:
        cluster.put("/api/v1/nodes/b", {})
        await until(lambda: informer.get("b") is not None)
        cluster.put("/api/v1/nodes/b", {"metadata": {"labels": {"x": "y"}}})
        cluster.drop("/api/v1/nodes/a")
        await until(lambda: ("gone", "a") in seen)
        assert seen == [("new", "a"), ("new", "b"), ("changed", "b"), ("gone", "a")]
        assert [node.name for node in informer] == ["b"]

    run(body)


def test_a_deletion_in_a_gap_is_found_by_the_next_list() -> None:
    async def body(cluster: SmallCluster, informer: Informer[Node], seen: Seen, server: FakeServer) -> None:
        cluster.drop("/api/v1/nodes/a")
        cluster.history.clear()  # the deletion is never sent
        cluster.put("/api/v1/nodes/b", {})
        cluster.history.clear()
        cluster.forget_history()
        server.drop_connections()
        await until(lambda: ("gone", "a") in seen)
        assert [node.name for node in informer] == ["b"]

    run(body)


def test_what_did_not_change_is_not_told_again_after_a_new_list() -> None:
    async def body(cluster: SmallCluster, informer: Informer[Node], seen: Seen, server: FakeServer) -> None:
        lists = cluster.calls.count(("GET", "/api/v1/nodes"))
        cluster.forget_history()
        server.drop_connections()
        await until(lambda: cluster.calls.count(("GET", "/api/v1/nodes")) > lists + 2)
        assert seen == [("new", "a")]

    run(body)


def test_a_cut_watch_goes_on_without_a_new_list() -> None:
    async def body(cluster: SmallCluster, informer: Informer[Node], seen: Seen, server: FakeServer) -> None:
        cluster.put("/api/v1/nodes/b", {})
        await until(lambda: ("new", "b") in seen)
        server.drop_connections()
        await asyncio.sleep(0.05)
        cluster.put("/api/v1/nodes/c", {})
        await until(lambda: ("new", "c") in seen)
        plain = [r for r in server.requests if not r.query.get("watch")]
        assert len(plain) == 1

    run(body)


def test_a_silent_watch_is_asked_again() -> None:
    async def body(cluster: SmallCluster, informer: Informer[Node], seen: Seen, server: FakeServer) -> None:
        await until(lambda: sum(1 for r in server.requests if r.query.get("watch")) >= 3)
        assert all(r.query["resourceVersion"] for r in server.requests if r.query.get("watch"))

    run(body, idle=0.05)


def test_a_server_that_fails_for_a_while_is_asked_until_it_answers() -> None:
    from tests.kube.fake_server import status

    async def body(cluster: SmallCluster, informer: Informer[Node], seen: Seen, server: FakeServer) -> None:
        cluster.refuse["GET /api/v1/nodes"] = status(500, "InternalError", "etcd is down")
        server.drop_connections()
        await asyncio.sleep(0.1)
        assert informer.get("a") is not None, "the copy stays while the server is away"
        cluster.put("/api/v1/nodes/b", {})
        cluster.refuse.clear()
        await until(lambda: informer.get("b") is not None)

    run(body)
