"""The publisher, against an API that remembers what was applied and can be made to fail."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lockgate.agents.node_state import Publisher
from lockgate.kube.errors import Forbidden, Unreachable
from lockgate.model.node_state import CDIState, DevicesState, RuntimeState
from lockgate.model.objects import Metadata, Node


class Server:
    """What the API server would hold; `failures` are raised by the next writes, in order."""

    def __init__(self) -> None:
        self.applied: list[tuple[str, dict[str, Any]]] = []
        self.failures: list[Exception] = []
        self.node_error: Exception | None = None
        self.pauses: list[float] = []

    async def get(self, resource: Any, name: str, namespace: str | None = None) -> Node:
        if self.node_error:
            raise self.node_error
        return Node(metadata=Metadata(name=name, uid="uid-1"))

    async def apply(self, body: dict[str, Any], field_manager: str) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.applied.append((field_manager, body))

    async def close(self) -> None:
        pass

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await asyncio.sleep(0)


def publish(server: Server, *steps: Callable[[Publisher], None]) -> None:
    async def run() -> None:
        async with Publisher(node="gpu-a", agent="toolkit", connect=lambda: server, sleep=server.sleep) as state:
            for step in steps:
                step(state)
                await state.flush(5)

    asyncio.run(run())


def test_a_section_is_applied_with_the_agents_field_manager_and_the_node_as_owner() -> None:
    server = Server()
    publish(server, lambda state: state.publish(runtime=RuntimeState(name="containerd", release="2.4.2")))
    (manager, body) = server.applied[0]
    assert manager == "lockgate-toolkit"
    assert body["apiVersion"] == "lockgate.dev/v1alpha1"
    assert body["metadata"]["name"] == "gpu-a"
    assert body["metadata"]["ownerReferences"] == [
        {"apiVersion": "v1", "kind": "Node", "name": "gpu-a", "uid": "uid-1"}
    ]
    assert body["status"] == {"runtime": {"name": "containerd", "release": "2.4.2"}}


def test_the_same_state_is_applied_once() -> None:
    server = Server()
    publish(server, *[lambda state: state.publish(devices=DevicesState(replicas=2))] * 3)
    assert len(server.applied) == 1


def test_one_section_does_not_drop_another_of_the_same_agent() -> None:
    server = Server()
    publish(
        server,
        lambda state: state.publish(runtime=RuntimeState(name="containerd")),
        lambda state: state.publish(cdi=CDIState()),
    )
    assert set(server.applied[-1][1]["status"]) == {"runtime", "cdi"}


def test_a_withdrawn_section_is_gone() -> None:
    server = Server()
    publish(
        server,
        lambda state: state.publish(runtime=RuntimeState(name="containerd"), cdi=CDIState()),
        lambda state: state.publish(runtime=None),
    )
    assert set(server.applied[-1][1]["status"]) == {"cdi"}


def test_an_unreachable_server_is_tried_again_with_growing_pauses_and_the_latest_state_arrives() -> None:
    server = Server()
    server.failures = [Unreachable("apply: no answer")] * 3
    publish(server, lambda state: state.publish(devices=DevicesState(message="at last")))
    assert server.pauses == [1.0, 2.0, 5.0]
    assert server.applied[-1][1]["status"]["devices"]["message"] == "at last"


def test_a_node_that_may_not_be_read_does_not_keep_the_state_from_being_published() -> None:
    server = Server()
    server.node_error = Forbidden("get Node gpu-a: forbidden (HTTP 403)")
    publish(server, lambda state: state.publish(devices=DevicesState()))
    assert "ownerReferences" not in server.applied[0][1]["metadata"]


def test_a_section_that_the_object_does_not_have_is_a_mistake_in_the_program() -> None:
    with pytest.raises(TypeError, match="no section device"):
        publish(Server(), lambda state: state.publish(device=DevicesState()))
