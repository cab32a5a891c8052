"""Serves the DevicePlugin service for one resource on a unix socket.

The caller gives the decisions (`Plugin`) and a `DeviceFeed`; each list put into the feed goes to every open
ListAndWatch stream, the newest one first to a stream that opens later.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import grpc
from grpc import aio

from lockgate.kubelet import messages
from lockgate.kubelet.generated import device_plugin_pb2 as pb
from lockgate.kubelet.messages import AdvertisedDevice, Allocation, PreferenceRequest

SERVICE: Final = "v1beta1.DevicePlugin"

T = TypeVar("T")


class RefusedError(Exception):
    """A request that cannot be met; the kubelet shows the text in the pod's status."""


class Plugin(Protocol):
    """The decisions of one resource's plugin."""

    def allocate(self, ids: Sequence[str]) -> Allocation:
        """What a container gets that was given these ids; raises RefusedError."""

    def prefer(self, request: PreferenceRequest) -> tuple[str, ...]:
        """The ids to take; raises RefusedError."""


class DeviceFeed:
    """The current device list and the streams that wait for its next change."""

    def __init__(self, devices: tuple[AdvertisedDevice, ...] = ()) -> None:
        self.devices = devices
        self.streams = 0
        self._changed = asyncio.Event()

    def put(self, devices: tuple[AdvertisedDevice, ...]) -> None:
        """Send this list to every stream, unless it is the current one."""
        if devices != self.devices:
            self.devices = devices
            self._changed.set()
            self._changed = asyncio.Event()

    async def follow(self) -> AsyncIterator[tuple[AdvertisedDevice, ...]]:
        """The current list, then each later one; a slow reader skips to the newest."""
        self.streams += 1
        try:
            while True:
                changed, sent = self._changed, self.devices
                yield sent
                if self.devices == sent:
                    await changed.wait()
        finally:
            self.streams -= 1


class DevicePluginServer:
    """A running server; its socket is there from `start` on and removed by `stop`."""

    def __init__(self, socket: Path, feed: DeviceFeed, plugin: Plugin) -> None:
        self.socket = socket
        self._feed = feed
        self._plugin = plugin
        self._server: aio.Server | None = None
        self._made: tuple[int, int] | None = None

    async def start(self) -> None:
        """Listen; a socket left by a former process is replaced. Raises OSError when the folder refuses."""
        self.socket.unlink(missing_ok=True)
        server = aio.server()
        server.add_generic_rpc_handlers((_handlers(self._feed, self._plugin),))
        try:
            server.add_insecure_port(f"unix:{self.socket}")
        except RuntimeError as error:
            raise OSError(f"{self.socket}: cannot listen: {error}") from error
        await server.start()
        self._server, self._made = server, identity(self.socket)

    @property
    def intact(self) -> bool:
        """Whether the socket in the folder is still the one this server listens on."""
        return self._server is not None and self._made is not None and identity(self.socket) == self._made

    async def stop(self) -> None:
        """End the streams and remove the socket, if it is still ours."""
        server, self._server = self._server, None
        if server is None:
            return
        mine = self._made is not None and identity(self.socket) == self._made
        await server.stop(grace=0)
        if mine:
            self.socket.unlink(missing_ok=True)


def identity(path: Path) -> tuple[int, int] | None:
    """What tells one file at a path from its successor: inode and change time; None when there is none."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_ino, status.st_ctime_ns


def _handlers(feed: DeviceFeed, plugin: Plugin) -> Any:
    async def options(_request: Any, _context: Any) -> Any:
        return pb.DevicePluginOptions(get_preferred_allocation_available=True)

    async def list_and_watch(_request: Any, _context: Any) -> AsyncIterator[Any]:
        async for devices in feed.follow():
            yield messages.render_devices(devices)

    async def prefer(request: Any, context: Any) -> Any:
        asked = [messages.parse_preference(part) for part in request.container_requests]
        chosen = await _decide(context, lambda: [plugin.prefer(part) for part in asked])
        return pb.PreferredAllocationResponse(
            container_responses=[pb.ContainerPreferredAllocationResponse(deviceIDs=ids) for ids in chosen]
        )

    async def allocate(request: Any, context: Any) -> Any:
        asked = [tuple(part.devices_ids) for part in request.container_requests]
        given = await _decide(context, lambda: [plugin.allocate(ids) for ids in asked])
        return pb.AllocateResponse(container_responses=[messages.render_allocation(part) for part in given])

    async def pre_start(_request: Any, _context: Any) -> Any:
        return pb.PreStartContainerResponse()

    unary = grpc.unary_unary_rpc_method_handler
    return grpc.method_handlers_generic_handler(
        SERVICE,
        {
            "GetDevicePluginOptions": unary(options, pb.Empty.FromString, pb.DevicePluginOptions.SerializeToString),
            "ListAndWatch": grpc.unary_stream_rpc_method_handler(
                list_and_watch, pb.Empty.FromString, pb.ListAndWatchResponse.SerializeToString
            ),
            "GetPreferredAllocation": unary(
                prefer, pb.PreferredAllocationRequest.FromString, pb.PreferredAllocationResponse.SerializeToString
            ),
            "Allocate": unary(allocate, pb.AllocateRequest.FromString, pb.AllocateResponse.SerializeToString),
            "PreStartContainer": unary(
                pre_start, pb.PreStartContainerRequest.FromString, pb.PreStartContainerResponse.SerializeToString
            ),
        },
    )


async def _decide(context: Any, decision: Callable[[], T]) -> T:
    try:
        return decision()
    except RefusedError as error:
        await context.abort(grpc.StatusCode.UNKNOWN, str(error))
        raise
