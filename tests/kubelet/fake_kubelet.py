"""The kubelet's half of the device plugin interface, as a real gRPC server on a real socket.

It behaves as kubelet 1.37 does: on start it removes every socket of its folder, on Register it dials the plugin, asks
for its options and then follows ListAndWatch until the stream ends. A second registration of a socket whose stream has
not ended is refused, and from then on every one, until the kubelet starts again.
"""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
from grpc import aio

from lockgate.kubelet.channel import open_channel
from lockgate.kubelet.generated import device_plugin_pb2 as pb

_PLUGIN = "/v1beta1.DevicePlugin"


class FakeKubelet:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "kubelet.sock"
        self.registered: list[tuple[str, str]] = []
        self.devices: dict[str, dict[str, bool]] = {}
        self.numa: dict[str, int] = {}
        self.refuse = ""
        self._followers: list[asyncio.Task[None]] = []
        self._connected: set[str] = set()
        self._stuck: set[str] = set()
        self._server: aio.Server | None = None

    async def start(self) -> None:
        for entry in self.folder.iterdir():
            if entry.is_socket():
                entry.unlink()
        server = aio.server()
        handler = grpc.unary_unary_rpc_method_handler(
            self._register, pb.RegisterRequest.FromString, pb.Empty.SerializeToString
        )
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("v1beta1.Registration", {"Register": handler}),)
        )
        server.add_insecure_port(f"unix:{self.socket}")
        await server.start()
        self._server = server

    async def stop(self) -> None:
        for follower in self._followers:
            follower.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await follower
        self._followers.clear()
        if self._server:
            await self._server.stop(grace=0)
        self.devices.clear()
        self._connected.clear()
        self._stuck.clear()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    def allocatable(self, resource: str = "nvidia.com/gpu") -> int:
        return sum(self.devices.get(resource, {}).values())

    def capacity(self, resource: str = "nvidia.com/gpu") -> int:
        return len(self.devices.get(resource, {}))

    async def until(self, condition: Callable[[], bool], timeout: float = 30.0) -> None:
        deadline = asyncio.get_running_loop().time() + timeout
        while not condition():
            assert asyncio.get_running_loop().time() < deadline, f"not within {timeout} s; devices: {self.devices}"
            await asyncio.sleep(0.02)

    async def allocate(self, *ids: str, resource: str = "nvidia.com/gpu") -> Any:
        request = pb.AllocateRequest(container_requests=[pb.ContainerAllocateRequest(devices_ids=ids)])
        answer = await self._ask(resource, "Allocate", request, pb.AllocateResponse)
        return answer.container_responses[0]

    async def prefer(self, available: list[str], size: int, resource: str = "nvidia.com/gpu") -> list[str]:
        part = pb.ContainerPreferredAllocationRequest(available_deviceIDs=available, allocation_size=size)
        request = pb.PreferredAllocationRequest(container_requests=[part])
        answer = await self._ask(resource, "GetPreferredAllocation", request, pb.PreferredAllocationResponse)
        return list(answer.container_responses[0].deviceIDs)

    async def _ask(self, resource: str, method: str, request: Any, response: Any) -> Any:
        endpoint = dict(reversed([(name, end) for name, end in self.registered]))[resource]
        async with open_channel(self.folder / endpoint) as channel:
            call = channel.unary_unary(
                f"{_PLUGIN}/{method}",
                request_serializer=type(request).SerializeToString,
                response_deserializer=response.FromString,
            )
            return await call(request, timeout=5)

    async def _register(self, request: Any, context: Any) -> Any:
        if request.version != "v1beta1" or self.refuse:
            await context.abort(grpc.StatusCode.UNKNOWN, self.refuse or "requested API version is not supported")
        if request.endpoint in self._connected:
            self._stuck.add(request.endpoint)
            await context.abort(grpc.StatusCode.UNKNOWN, f"device plugin already connected: {request.endpoint}")
        channel = open_channel(self.folder / request.endpoint)
        options = channel.unary_unary(
            f"{_PLUGIN}/GetDevicePluginOptions",
            request_serializer=pb.Empty.SerializeToString,
            response_deserializer=pb.DevicePluginOptions.FromString,
        )
        assert (await options(pb.Empty(), timeout=5)).get_preferred_allocation_available
        self.registered.append((request.resource_name, request.endpoint))
        self._connected.add(request.endpoint)
        self._followers.append(asyncio.create_task(self._follow(channel, request.resource_name, request.endpoint)))
        return pb.Empty()

    async def _follow(self, channel: aio.Channel, resource: str, endpoint: str) -> None:
        watch = channel.unary_stream(
            f"{_PLUGIN}/ListAndWatch",
            request_serializer=pb.Empty.SerializeToString,
            response_deserializer=pb.ListAndWatchResponse.FromString,
        )
        try:
            async for message in watch(pb.Empty()):
                self.devices[resource] = {device.ID: device.health == "Healthy" for device in message.devices}
                for device in message.devices:
                    for node in device.topology.nodes:
                        self.numa[device.ID] = node.ID
        except aio.AioRpcError:
            pass
        finally:
            # A stream that ends leaves the devices known, none of them healthy.
            self.devices[resource] = dict.fromkeys(self.devices.get(resource, {}), False)
            if endpoint not in self._stuck:
                self._connected.discard(endpoint)
            await channel.close()
