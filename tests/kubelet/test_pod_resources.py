"""Which pod holds which device, asked of a real gRPC server that answers as the kubelet does."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio

from lockgate.kubelet.channel import UnreachableError
from lockgate.kubelet.generated import pod_resources_pb2 as pb
from lockgate.kubelet.pod_resources import HeldDevices, allocatable_devices, held_devices


def _devices(resource: str, *ids: str) -> Any:
    return pb.ContainerDevices(resource_name=resource, device_ids=ids)


PODS = pb.ListPodResourcesResponse(
    pod_resources=[
        pb.PodResources(
            name="train-0",
            namespace="ml",
            containers=[
                # two NUMA nodes, so two entries of one resource
                pb.ContainerResources(
                    name="main", devices=[_devices("nvidia.com/gpu", "GPU-0"), _devices("nvidia.com/gpu", "GPU-4")]
                ),
                pb.ContainerResources(name="sidecar"),
            ],
        ),
        pb.PodResources(
            name="web",
            namespace="shop",
            containers=[pb.ContainerResources(name="web", devices=[_devices("nvidia.com/gpu.shared", "GPU-1::2")])],
        ),
    ]
)
ALLOCATABLE = pb.AllocatableResourcesResponse(
    devices=[_devices("nvidia.com/gpu", "GPU-0"), _devices("nvidia.com/gpu", "GPU-4"), _devices("x.io/y", "a")]
)


def _ask(socket: Path, question: Callable[[], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        server = aio.server()

        def answer(message: Any) -> Callable[[Any, Any], Awaitable[Any]]:
            async def method(_request: Any, context: Any) -> Any:
                return message

            return method

        handlers = {
            "List": grpc.unary_unary_rpc_method_handler(
                answer(PODS), pb.ListPodResourcesRequest.FromString, pb.ListPodResourcesResponse.SerializeToString
            ),
            "GetAllocatableResources": grpc.unary_unary_rpc_method_handler(
                answer(ALLOCATABLE),
                pb.AllocatableResourcesRequest.FromString,
                pb.AllocatableResourcesResponse.SerializeToString,
            ),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("v1.PodResourcesLister", handlers),))
        server.add_insecure_port(f"unix:{socket}")
        await server.start()
        try:
            return await question()
        finally:
            await server.stop(grace=0)

    return asyncio.run(run())


def test_devices_of_several_numa_nodes_are_one_holding(tmp_path: Path) -> None:
    socket = tmp_path / "s"
    assert _ask(socket, lambda: held_devices(socket)) == (
        HeldDevices("ml", "train-0", "main", "nvidia.com/gpu", ("GPU-0", "GPU-4")),
        HeldDevices("shop", "web", "web", "nvidia.com/gpu.shared", ("GPU-1::2",)),
    )


def test_allocatable_devices_are_gathered_by_resource(tmp_path: Path) -> None:
    socket = tmp_path / "s"
    assert _ask(socket, lambda: allocatable_devices(socket)) == {
        "nvidia.com/gpu": ("GPU-0", "GPU-4"),
        "x.io/y": ("a",),
    }


def test_a_kubelet_that_is_not_there_is_unreachable(tmp_path: Path) -> None:
    with pytest.raises(UnreachableError, match=r"/s: /v1\.PodResourcesLister/List: UNAVAILABLE"):
        asyncio.run(held_devices(tmp_path / "s", timeout=2))
