"""The client against a server that answers what real API servers answer on bad days."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import httpx2
import msgspec
import pytest

from lockgate.kube import errors
from lockgate.kube.api import Api
from lockgate.kube.config import Connection
from lockgate.kube.reader import Shape
from lockgate.kube.resources import CLUSTERPOLICIES, CONFIGMAPS, NODES, PODS
from lockgate.model.objects import Node
from tests.kube.fake_server import Answer, FakeServer, Handler, Request, fake_api, status

Test = Callable[[FakeServer, Api, list[float]], Coroutine[Any, Any, None]]


def run(handler: Handler, test: Test) -> None:
    async def body() -> None:
        async with fake_api(handler) as (server, api, waits):
            await test(server, api, waits)

    asyncio.run(asyncio.wait_for(body(), 20))


def node(name: str, version: str = "1") -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": version}}


def page(*names: str, next: str = "", version: str = "10") -> Answer:
    return Answer({"metadata": {"resourceVersion": version, "continue": next}, "items": [node(n) for n in names]})


def test_a_list_follows_continue_until_it_is_empty() -> None:
    def handler(request: Request) -> Answer:
        assert request.query["limit"] == "500"
        return {"": page("a", next="t1"), "t1": page("b", next="t2"), "t2": page("c")}[
            request.query.get("continue", "")
        ]

    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        assert [n.name for n in await api.list(NODES)] == ["a", "b", "c"]
        assert len(server.requests) == 3

    run(handler, test)


def test_remaining_item_count_is_not_trusted() -> None:
    def handler(request: Request) -> Answer:
        if request.query.get("continue"):
            return page("b")
        return Answer({"metadata": {"continue": "t", "remainingItemCount": 0}, "items": [node("a")]})

    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        assert len(await api.list(NODES)) == 2

    run(handler, test)


def test_a_list_without_items_is_empty() -> None:
    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        assert await api.list(NODES) == []

    run(lambda _: Answer({"metadata": {}, "items": None}), test)


def test_a_list_that_expires_between_pages_starts_again_without_duplicates() -> None:
    seen: list[str] = []

    def handler(request: Request) -> Answer:
        seen.append(request.query.get("continue", ""))
        if seen == ["", "t1"]:
            return status(410, "Expired", "the provided continue parameter is too old")
        return page("b") if seen[-1] else page("a", next="t1")

    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        assert [n.name for n in await api.list(NODES)] == ["a", "b"]
        assert seen == ["", "t1", "", "t1"]

    run(handler, test)


def test_a_list_that_always_expires_ends_as_gone() -> None:
    def handler(request: Request) -> Answer:
        return status(410, "Expired") if request.query.get("continue") else page("a", next="t1")

    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        with pytest.raises(errors.Gone):
            await api.list(NODES)

    run(handler, test)


def test_keep_drops_objects_while_pages_arrive() -> None:
    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        assert [n.name for n in await api.list(NODES, keep=lambda n: n.name != "a")] == ["b"]

    run(lambda _: page("a", "b"), test)


def test_a_shape_makes_the_objects_and_what_it_cannot_make_is_one_clear_line() -> None:
    shape = Shape(Node, lambda read: msgspec.json.decode(b'{"metadata": 1}' if read.name == "b" else b"{}", type=Node))

    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        assert await api.list(NODES, shape=shape) == [Node()]
        with pytest.raises(errors.ApiError, match=r"list nodes: the answer is not what the API promises: .*metadata"):
            await api.list(NODES, shape=shape)

    answers = [page("a"), page("b")]
    run(lambda _: answers.pop(0), test)


def test_selectors_and_namespaces_reach_the_server() -> None:
    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        await api.list(PODS, "ml", label_selector="app=x", field_selector="spec.nodeName=gpu-a")
        await api.list(PODS)
        first, second = server.requests
        assert first.path == "/api/v1/namespaces/ml/pods"
        assert first.query["labelSelector"] == "app=x"
        assert first.query["fieldSelector"] == "spec.nodeName=gpu-a"
        assert second.path == "/api/v1/pods"
        assert "labelSelector" not in second.query

    run(lambda _: page(), test)


def test_a_busy_server_is_given_the_time_it_asks_for() -> None:
    answers = [
        Answer(b"busy", 429, {"Retry-After": "7"}),
        status(503, "ServiceUnavailable", retryAfterSeconds=3),
        Answer(node("a")),
    ]

    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        assert (await api.get(NODES, "a")).name == "a"
        assert waits == [7.0, 3.0]

    run(lambda _: answers.pop(0), test)


def test_a_server_that_stays_busy_is_reported_after_five_attempts() -> None:
    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        with pytest.raises(errors.TooManyRequests):
            await api.get(NODES, "a")
        assert len(server.requests) == 5

    run(lambda _: status(429, "TooManyRequests"), test)


def test_an_error_without_retry_after_is_not_repeated() -> None:
    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        with pytest.raises(errors.ApiError, match="list nodes: etcd is down"):
            await api.list(NODES)
        assert len(server.requests) == 1

    run(lambda _: status(500, "InternalError", "etcd is down"), test)


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (401, "Unauthorized", errors.Unauthorized),
        (403, "Forbidden", errors.Forbidden),
        (404, "NotFound", errors.NotFound),
        (409, "Conflict", errors.Conflict),
        (410, "Expired", errors.Gone),
        (422, "Invalid", errors.Invalid),
    ],
)
def test_each_refusal_has_a_type_and_names_the_call(code: int, reason: str, kind: type[errors.ApiError]) -> None:
    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        with pytest.raises(kind, match="get Pod web in namespace ml: because") as caught:
            await api.get(PODS, "web", "ml")
        assert caught.value.reason == reason
        assert caught.value.code == code

    run(lambda _: status(code, reason, "because"), test)


def test_an_unknown_kind_is_told_from_a_missing_object() -> None:
    answers = [Answer(b"404 page not found\n", 404, {"Content-Type": "text/plain"}), status(404, "NotFound")]

    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        for expected in (True, False):
            with pytest.raises(errors.NotFound) as caught:
                await api.get(CLUSTERPOLICIES, "x")
            assert caught.value.unknown_kind is expected

    run(lambda _: answers.pop(0), test)


def test_a_page_of_a_proxy_instead_of_json_is_one_clear_line() -> None:
    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        with pytest.raises(errors.ApiError, match="list nodes: the answer is not what the API promises"):
            await api.list(NODES)

    run(lambda _: Answer(b"<html>log in</html>"), test)


def test_a_read_on_a_cut_connection_is_repeated_once() -> None:
    answers = [Answer(cut=True), Answer(node("a"))]

    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        assert (await api.get(NODES, "a")).name == "a"

    run(lambda _: answers.pop(0), test)


def test_a_write_on_a_cut_connection_is_not_repeated() -> None:
    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        with pytest.raises(errors.Unreachable):
            await api.patch(NODES, "a", {"metadata": {"labels": {"x": "y"}}})
        assert len(server.requests) == 1

    run(lambda _: Answer(cut=True), test)


def test_a_server_that_is_not_there_is_unreachable_and_named() -> None:
    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        client = httpx2.AsyncClient(base_url="http://127.0.0.1:1", trust_env=False)
        async with Api(Connection(client=client, server="http://127.0.0.1:1", namespace="", source="/k")) as gone:
            with pytest.raises(errors.Unreachable, match=r"list nodes: no answer from .*http://127.0.0.1:1 \(/k\)"):
                await gone.list(NODES)

    run(lambda _: page(), test)


def test_apply_is_server_side_and_names_its_manager() -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}, "data": {"a": "b"}}

    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        await api.apply(body, "lockgate-operator", force=False)
        (request,) = server.requests
        assert (request.method, request.path) == ("PATCH", "/api/v1/namespaces/n/configmaps/c")
        assert request.headers["content-type"] == "application/apply-patch+yaml"
        assert request.query == {"fieldManager": "lockgate-operator", "force": "false"}

    run(lambda request: Answer(request.body), test)


def test_apply_can_write_the_status_alone() -> None:
    body = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "p"}, "status": {}}

    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        await api.apply(body, "m", subresource="status")
        assert server.requests[0].path == "/apis/nvidia.com/v1/clusterpolicies/p/status"

    run(lambda request: Answer(request.body), test)


def test_a_kind_outside_the_table_is_refused_before_anything_is_sent() -> None:
    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        with pytest.raises(KeyError, match="Pond of v1"):
            await api.apply({"apiVersion": "v1", "kind": "Pond", "metadata": {"name": "p"}}, "m")
        assert not server.requests

    run(lambda request: Answer({}), test)


def test_delete_can_insist_on_the_very_object() -> None:
    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        await api.delete(CONFIGMAPS, "c", "n", uid="u-1")
        assert b'"preconditions":{"uid":"u-1"}' in server.requests[0].body

    run(lambda request: Answer({}), test)


def test_a_log_is_text_even_when_its_bytes_are_not() -> None:
    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        assert await api.logs("n", "p", "c", previous=True, tail=5) == "a\ufffdb"
        query = server.requests[0].query
        assert (query["previous"], query["tailLines"], query["container"]) == ("true", "5", "c")

    run(lambda _: Answer(b"a\xffb", headers={"Content-Type": "text/plain"}), test)


# --- watch


def event(change: str, name: str = "a", version: str = "1") -> dict[str, Any]:
    return {"type": change, "object": node(name, version)}


def watched(*lines: object, **options: Any) -> list[tuple[str, str]]:
    seen: list[tuple[str, str]] = []

    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        async for change in api.watch(NODES, resource_version="10", **options):
            seen.append((change.change, change.object.name))

    run(lambda _: Answer(lines=list(lines)), test)
    return seen


def test_a_watch_yields_changes_and_bookmarks_and_ends_with_the_answer() -> None:
    assert watched(event("ADDED"), event("BOOKMARK", ""), event("DELETED")) == [
        ("ADDED", "a"),
        ("BOOKMARK", ""),
        ("DELETED", "a"),
    ]


def test_a_watch_survives_lines_that_arrive_in_pieces() -> None:
    text = msgspec.json.encode(event("ADDED")) + b"\n" + msgspec.json.encode(event("MODIFIED", "b")) + b"\n"
    assert watched(text[:10], text[10:60], text[60:]) == [("ADDED", "a"), ("MODIFIED", "b")]


def test_an_expired_version_in_the_stream_is_gone() -> None:
    expired = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}}
    with pytest.raises(errors.Gone, match="too old"):
        watched(event("ADDED"), expired)


def test_another_error_in_the_stream_keeps_its_text() -> None:
    broken = {"type": "ERROR", "object": {"kind": "Status", "code": 500, "reason": "InternalError", "message": "etcd"}}
    with pytest.raises(errors.ApiError, match="watch nodes: etcd"):
        watched(broken)


def test_a_silent_watch_ends_after_the_idle_time() -> None:
    assert watched(event("ADDED"), None, idle=0.2) == [("ADDED", "a")]


def test_a_line_that_is_no_event_is_an_error() -> None:
    with pytest.raises(errors.ApiError, match="not a watch event"):
        watched(b"<html>\n")


def test_a_watch_that_is_refused_is_typed() -> None:
    async def test(server: FakeServer, api: Api, waits: list[float]) -> None:
        with pytest.raises(errors.Forbidden):
            async for _ in api.watch(NODES):
                pass

    run(lambda _: status(403, "Forbidden"), test)
