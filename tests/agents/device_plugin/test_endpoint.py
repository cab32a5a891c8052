"""One resource in the hands of a kubelet that restarts, refuses, forgets, and whose folder others clean."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import grpc
import pytest

from lockgate.agents.device_plugin.endpoint import Endpoint, socket_name
from lockgate.kubelet.device_plugin_server import RefusedError
from lockgate.kubelet.messages import AdvertisedDevice, Allocation, PreferenceRequest
from tests.kubelet.fake_kubelet import FakeKubelet

GPU = "nvidia.com/gpu"
TWO = (AdvertisedDevice("GPU-0", numa_node=1), AdvertisedDevice("GPU-1"))


class _Plugin:
    def allocate(self, ids: Sequence[str]) -> Allocation:
        if "GPU-9" in ids:
            raise RefusedError("unknown device: GPU-9")
        return Allocation(cdi_devices=tuple(f"k8s.device-plugin.nvidia.com/gpu={id}" for id in ids))

    def prefer(self, request: PreferenceRequest) -> tuple[str, ...]:
        return request.available[-request.size :]


Play = Callable[[FakeKubelet, Endpoint], Awaitable[None]]


def _play(folder: Path, play: Play, *, kubelet_first: bool = True) -> None:
    async def run() -> None:
        kubelet = FakeKubelet(folder)
        if kubelet_first:
            await kubelet.start()
        endpoint = Endpoint(GPU, folder, kubelet.socket, _Plugin(), lambda: None, interval=0.02)
        endpoint.advertise(TWO)
        endpoint.start()
        try:
            await play(kubelet, endpoint)
        finally:
            await endpoint.stop()
            await kubelet.stop()

    asyncio.run(run())


def test_a_resource_is_registered_with_all_its_devices(tmp_path: Path) -> None:
    async def play(kubelet: FakeKubelet, endpoint: Endpoint) -> None:
        await kubelet.until(lambda: kubelet.allocatable() == 2)
        assert kubelet.registered == [(GPU, "nvidia-gpu.sock")]
        assert kubelet.numa == {"GPU-0": 1}
        await kubelet.until(lambda: endpoint.registered)

    _play(tmp_path, play)


def test_a_change_of_health_reaches_the_kubelet(tmp_path: Path) -> None:
    async def play(kubelet: FakeKubelet, endpoint: Endpoint) -> None:
        await kubelet.until(lambda: kubelet.allocatable() == 2)
        endpoint.advertise((AdvertisedDevice("GPU-0", healthy=False), AdvertisedDevice("GPU-1")))
        await kubelet.until(lambda: (kubelet.capacity(), kubelet.allocatable()) == (2, 1))
        endpoint.advertise(TWO)
        await kubelet.until(lambda: kubelet.allocatable() == 2)

    _play(tmp_path, play)


def test_the_kubelet_may_come_later(tmp_path: Path) -> None:
    async def play(kubelet: FakeKubelet, endpoint: Endpoint) -> None:
        await kubelet.until(lambda: "waiting for the kubelet" in endpoint.trouble)
        await kubelet.start()
        await kubelet.until(lambda: kubelet.allocatable() == 2)
        assert endpoint.trouble == ""

    _play(tmp_path, play, kubelet_first=False)


def test_after_a_kubelet_restart_the_resource_is_back(tmp_path: Path) -> None:
    async def play(kubelet: FakeKubelet, endpoint: Endpoint) -> None:
        for _ in range(3):
            await kubelet.until(lambda: kubelet.allocatable() == 2)
            await kubelet.restart()
        await kubelet.until(lambda: kubelet.allocatable() == 2)
        assert len(kubelet.registered) == 4

    _play(tmp_path, play)


def test_a_socket_that_others_removed_is_made_anew(tmp_path: Path) -> None:
    async def play(kubelet: FakeKubelet, endpoint: Endpoint) -> None:
        await kubelet.until(lambda: kubelet.allocatable() == 2)
        (tmp_path / "nvidia-gpu.sock").unlink()
        await kubelet.until(lambda: len(kubelet.registered) == 2 and kubelet.allocatable() == 2)
        assert (await kubelet.allocate("GPU-1")).cdi_devices[0].name == "k8s.device-plugin.nvidia.com/gpu=GPU-1"

    _play(tmp_path, play)


def test_a_refusal_is_repeated_in_the_kubelets_words_until_it_passes(tmp_path: Path) -> None:
    async def play(kubelet: FakeKubelet, endpoint: Endpoint) -> None:
        await kubelet.until(lambda: "device plugin already connected" in endpoint.trouble)
        assert not endpoint.registered
        kubelet.refuse = ""
        await kubelet.until(lambda: kubelet.allocatable() == 2)

    async def run(kubelet: FakeKubelet, endpoint: Endpoint) -> None:
        kubelet.refuse = "device plugin already connected: nvidia-gpu.sock"
        await kubelet.start()
        await play(kubelet, endpoint)

    _play(tmp_path, run, kubelet_first=False)


def test_a_refused_allocation_keeps_its_words(tmp_path: Path) -> None:
    async def play(kubelet: FakeKubelet, endpoint: Endpoint) -> None:
        await kubelet.until(lambda: kubelet.allocatable() == 2)
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await kubelet.allocate("GPU-9")
        assert (error.value.code(), error.value.details()) == (grpc.StatusCode.UNKNOWN, "unknown device: GPU-9")
        assert await kubelet.prefer(["GPU-0", "GPU-1"], 1) == ["GPU-1"]

    _play(tmp_path, play)


def test_a_clean_stop_removes_the_socket_and_ends_the_stream(tmp_path: Path) -> None:
    async def play(kubelet: FakeKubelet, endpoint: Endpoint) -> None:
        await kubelet.until(lambda: kubelet.allocatable() == 2)
        await endpoint.stop()
        assert not (tmp_path / "nvidia-gpu.sock").exists()
        await kubelet.until(lambda: (kubelet.capacity(), kubelet.allocatable()) == (2, 0))

    _play(tmp_path, play)


def test_a_withdrawn_resource_is_counted_as_none(tmp_path: Path) -> None:
    async def play(kubelet: FakeKubelet, endpoint: Endpoint) -> None:
        await kubelet.until(lambda: kubelet.allocatable() == 2)
        await endpoint.withdraw()
        await kubelet.until(lambda: kubelet.capacity() == 0)

    _play(tmp_path, play)


def test_a_socket_left_by_a_killed_process_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "nvidia-gpu.sock").write_text("left behind")

    async def play(kubelet: FakeKubelet, endpoint: Endpoint) -> None:
        await kubelet.until(lambda: kubelet.allocatable() == 2)

    _play(tmp_path, play)


def test_sockets_are_named_as_nvidias() -> None:
    names = [socket_name(resource) for resource in (GPU, "nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb")]
    assert names == ["nvidia-gpu.sock", "nvidia-gpu.shared.sock", "nvidia-mig-1g.5gb.sock"]
