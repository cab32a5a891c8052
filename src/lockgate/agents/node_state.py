"""Publishes an agent's sections of GPUNodeState, in the background: its own work never waits for it.

    async with Publisher(node="gpu-a", agent="device-plugin") as state:
        state.publish(devices=DevicesState(...))

Each agent applies its own sections with its own field manager, so that agents do not overwrite each other, and only
when they changed. The object belongs to the Node and vanishes with it. RBAC: get nodes; create and patch gpunodestates.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Final, Protocol, Self

import msgspec

from lockgate.kube.api import Api
from lockgate.kube.errors import ApiError, Forbidden, Unreachable
from lockgate.kube.resources import NODES
from lockgate.model.names import API_VERSION
from lockgate.model.node_state import KIND, NodeStateStatus
from lockgate.model.objects import Object

BACKOFF: Final = (1.0, 2.0, 5.0, 15.0, 60.0)  # seconds between attempts, the last one repeated
REFRESH: Final = 1800.0  # seconds after which the same state is applied again, should someone have deleted it
GOODBYE: Final = 5.0  # seconds that closing waits for the last state to arrive

_log = logging.getLogger("lockgate.node_state")
Sleep = Callable[[float], Awaitable[None]]


class StateApi(Protocol):
    """The part of `kube.api.Api` that publishing uses."""

    async def get(self, resource: Any, name: str, namespace: str | None = None) -> Any: ...

    async def apply(self, body: dict[str, Any], field_manager: str) -> Any: ...

    async def close(self) -> None: ...


class Publisher:
    """Keeps one agent's sections of a node's state published while it is open.

    `connect` makes the API client when it is first needed; a failure of any kind is logged once a kind and tried again.
    """

    def __init__(
        self, *, node: str, agent: str, connect: Callable[[], StateApi] = Api.connect, sleep: Sleep = asyncio.sleep
    ) -> None:
        self.node = node
        self.field_manager = f"lockgate-{agent}"
        self._connect = connect
        self._sleep = sleep
        self._sections: dict[str, Any] = {}
        self._sent: bytes | None = None
        self._changed = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task[None] | None = None
        self._api: StateApi | None = None
        self._owner: dict[str, Any] | None = None
        self._complaint = ""
        self._warned_of_owner = False

    def publish(self, **sections: Object | None) -> None:
        """Replace sections by name (`runtime=`, `devices=`, ...; None withdraws one) and return at once.

        Other sections of this agent stay as they were. Raises TypeError for a section that GPUNodeState does not have.
        """
        unknown = sections.keys() - set(NodeStateStatus.__struct_fields__)
        if unknown:
            raise TypeError(f"GPUNodeState has no section {', '.join(sorted(unknown))}")
        for name, value in sections.items():
            if value is None:
                self._sections.pop(name, None)
            else:
                self._sections[name] = msgspec.to_builtins(value)
        self._idle.clear()
        self._changed.set()

    async def flush(self, timeout: float) -> bool:
        """Wait until the latest state has arrived, at most `timeout` seconds; False when it has not."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), timeout)
        return self._idle.is_set()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run(), name="node state")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not await self.flush(GOODBYE):
            _log.warning("node %s: the last state was not published: %s", self.node, self._complaint or "no answer yet")
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self._api:
            await self._api.close()

    async def _run(self) -> None:
        failures = 0
        while True:
            if failures == 0:
                await self._wait_for_change()
            self._changed.clear()
            body = self._body()
            try:
                await self._send(body)
            except (ApiError, Unreachable) as error:
                self._complain(str(error))
                pause = BACKOFF[min(failures, len(BACKOFF) - 1)]
                failures += 1
                await self._sleep(pause)
                continue
            failures = 0
            if not self._changed.is_set():
                self._idle.set()

    async def _wait_for_change(self) -> None:
        while not self._changed.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), REFRESH)
                return
            if self._sections:
                self._sent = None
                return

    def _body(self) -> dict[str, Any]:
        return {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "metadata": {"name": self.node},
            "status": dict(self._sections),
        }

    async def _send(self, body: dict[str, Any]) -> None:
        content = msgspec.json.encode(body)
        if content == self._sent:
            return
        if self._api is None:
            self._api = self._connect()
        if owner := await self._owner_reference(self._api):
            body["metadata"]["ownerReferences"] = [owner]
        await self._api.apply(body, self.field_manager)
        self._sent = content
        if self._complaint:
            _log.info("node %s: state published again", self.node)
            self._complaint = ""

    async def _owner_reference(self, api: StateApi) -> dict[str, Any] | None:
        """The Node as owner; None where it may not be read, and then nothing removes the object with the node."""
        if self._owner is None:
            try:
                node = await api.get(NODES, self.node)
            except Forbidden as error:
                if not self._warned_of_owner:
                    _log.warning("node %s: %s; its state will outlive the node", self.node, error)
                self._warned_of_owner = True
                return None
            self._owner = {"apiVersion": "v1", "kind": "Node", "name": self.node, "uid": node.metadata.uid}
        return self._owner

    def _complain(self, text: str) -> None:
        """Log a trouble when it is a new one."""
        if text != self._complaint:
            _log.warning("node %s: state not published: %s", self.node, text)
            self._complaint = text
