"""The device plugin as a process, between a simulated driver behind NVML's interface and a kubelet over gRPC."""

import asyncio
import json
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.agents.cluster_api import cluster_api
from tests.agents.machine import Machine, machine
from tests.kubelet.fake_kubelet import FakeKubelet

GPU = "nvidia.com/gpu"


class Stage:
    """A machine, a kubelet, and the plugin between them."""

    def __init__(self, made: Machine, environ: dict[str, str]) -> None:
        self.machine = made
        self.kubelet = FakeKubelet(made.kubelet)
        self.environ = made.environment | environ
        self.log = made.folder / "log"
        self.plugin: asyncio.subprocess.Process | None = None

    async def start_plugin(self) -> None:
        with self.log.open("ab") as log:
            self.plugin = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "lockgate.agents.device_plugin", env=self.environ, stderr=log
            )

    async def end_plugin(self, number: int = signal.SIGTERM) -> int:
        assert self.plugin is not None
        if self.plugin.returncode is None:
            self.plugin.send_signal(number)
        return await asyncio.wait_for(self.plugin.wait(), 30)

    async def counts(self, capacity: int, allocatable: int, resource: str = GPU) -> None:
        def met() -> bool:
            return (self.kubelet.capacity(resource), self.kubelet.allocatable(resource)) == (capacity, allocatable)

        await self.kubelet.until(met)

    async def logs(self, text: str) -> None:
        await self.kubelet.until(lambda: text in self.log.read_text())

    def healthy(self, gpu: int) -> bool:
        return self.kubelet.devices[GPU][self.machine.uuids[gpu]]


Play = Callable[[Stage], Awaitable[None]]


def _play(play: Play, gpus: str = "2xA100-SXM4-40GB", files: dict[str, str] | None = None, **environ: str) -> None:
    """Run a test's body on a fresh stage; `files` are laid into its folder, `{folder}` in a variable stands for it."""

    async def run(made: Machine) -> None:
        stage = Stage(made, {name: value.format(folder=made.folder) for name, value in environ.items()})
        await stage.kubelet.start()
        await stage.start_plugin()
        try:
            await play(stage)
        except BaseException:
            print(stage.log.read_text())
            raise
        finally:
            await stage.end_plugin(signal.SIGKILL)
            await stage.kubelet.stop()

    with machine(gpus) as made:
        for name, text in (files or {}).items():
            (made.folder / name).write_text(text)
        asyncio.run(run(made))


def test_every_gpu_is_registered_and_allocated_by_its_cdi_name() -> None:
    async def play(stage: Stage) -> None:
        await stage.counts(2, 2)
        first = stage.machine.uuids[0]
        given = await stage.kubelet.allocate(first)
        assert [device.name for device in given.cdi_devices] == [f"k8s.device-plugin.nvidia.com/gpu={first}"]
        assert (dict(given.envs), list(given.devices), dict(given.annotations)) == ({}, [], {})

    _play(play)


def test_the_cdi_specification_names_what_is_allocated() -> None:
    async def play(stage: Stage) -> None:
        await stage.counts(2, 2)
        spec = json.loads((stage.machine.cdi / "k8s.device-plugin.nvidia.com-gpu.json").read_text())
        assert spec["kind"] == "k8s.device-plugin.nvidia.com/gpu"
        assert sorted(device["name"] for device in spec["devices"]) == sorted(stage.machine.uuids)
        mounts = {mount["containerPath"]: mount["hostPath"] for mount in spec["containerEdits"]["mounts"]}
        assert mounts["/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"].startswith("/run/nvidia/driver/usr/lib/")
        assert "/run/nvidia-persistenced/socket" in mounts

    _play(play)


def test_a_lost_gpu_is_unhealthy_and_returns_after_its_reset() -> None:
    async def play(stage: Stage) -> None:
        await stage.counts(2, 2)
        stage.machine.control.lose(1)
        await stage.counts(2, 1)
        assert stage.healthy(0)
        assert not stage.healthy(1)
        stage.machine.control.restore(1)
        await stage.counts(2, 2)
        await stage.logs("healthy again")

    _play(play)


def test_an_xid_takes_its_gpu_out_at_once_and_back_after_a_quiet_time() -> None:
    async def play(stage: Stage) -> None:
        await stage.counts(2, 2)
        await stage.kubelet.until(lambda: stage.machine.control.xid(0, 13) > 0)  # listens; of an application
        stage.machine.control.xid(0, 63)
        await stage.counts(2, 1)
        assert not stage.healthy(0)
        await stage.counts(2, 2)

    _play(play, DP_XID_QUIET_PERIOD="1s", DP_LOOK_INTERVAL="500ms")


def test_a_gpu_that_came_back_is_listened_to_again() -> None:
    async def play(stage: Stage) -> None:
        await stage.counts(2, 2)
        stage.machine.control.lose(1)
        await stage.counts(2, 1)
        stage.machine.control.restore(1)
        await stage.counts(2, 2)
        await stage.kubelet.until(lambda: stage.machine.control.xid(1, 13) > 0)
        stage.machine.control.xid(1, 48)
        await stage.counts(2, 1)

    _play(play)


def test_a_driver_that_goes_and_comes_takes_all_gpus_with_it() -> None:
    async def play(stage: Stage) -> None:
        await stage.counts(2, 2)
        stage.machine.control.unload_driver()
        await stage.counts(2, 0)
        stage.machine.control.load_driver()
        await stage.counts(2, 2)

    _play(play)


def test_a_restarted_kubelet_gets_the_same_devices() -> None:
    async def play(stage: Stage) -> None:
        await stage.counts(2, 2)
        await stage.kubelet.restart()
        await stage.counts(2, 2)

    _play(play)


def test_a_clean_stop_leaves_no_socket_and_a_restart_finds_its_way() -> None:
    async def play(stage: Stage) -> None:
        await stage.counts(2, 2)
        assert await stage.end_plugin() == 0
        assert not (stage.machine.kubelet / "nvidia-gpu.sock").exists()
        await stage.counts(2, 0)
        await stage.start_plugin()
        await stage.counts(2, 2)

    _play(play)


def test_a_killed_plugin_is_replaced_by_the_next() -> None:
    async def play(stage: Stage) -> None:
        await stage.counts(2, 2)
        await stage.end_plugin(signal.SIGKILL)
        await stage.counts(2, 0)
        await stage.start_plugin()
        await stage.counts(2, 2)

    _play(play)


def test_time_slicing_is_switched_on_and_off_while_running() -> None:
    shared = "sharing: {timeSlicing: {failRequestsGreaterThanOne: true, resources: [{name: gpu, replicas: 4}]}}"

    async def play(stage: Stage) -> None:
        await stage.counts(2, 2)
        config = stage.machine.folder / "config.yaml"
        config.write_text(shared)
        await stage.counts(8, 8)
        first = stage.machine.uuids[0]
        with pytest.raises(grpc.aio.AioRpcError, match="maximum request size for shared resources is 1; found 2"):
            await stage.kubelet.allocate(f"{first}::0", f"{first}::1")
        config.write_text("sharing: {timeSlicing: {resources: []}}")
        await stage.logs("the former configuration stays in force")
        assert stage.kubelet.capacity() == 8
        config.write_text("version: v1")
        await stage.counts(2, 2)

    _play(play, files={"config.yaml": "version: v1"}, CONFIG_FILE="{folder}/config.yaml")


def test_without_a_cdi_specification_no_device_is_handed_out() -> None:
    async def play(stage: Stage) -> None:
        await stage.logs("the CDI specification cannot be written")
        await stage.counts(2, 0)
        (stage.machine.folder / "blocked").unlink()
        await stage.counts(2, 2)

    _play(play, files={"blocked": "a file where the folder should be"}, CDI_ROOT="{folder}/blocked")


def test_a_file_that_the_driver_brings_later_is_in_the_specification_after_the_next_look() -> None:
    async def play(stage: Stage) -> None:
        await stage.counts(2, 2)
        specification = stage.machine.cdi / "k8s.device-plugin.nvidia.com-gpu.json"
        assert "libnvidia-ml.so.1" in specification.read_text()
        late = stage.machine.root / "usr/bin/nvidia-cuda-mps-control"
        late.touch()
        await stage.kubelet.until(lambda: "nvidia-cuda-mps-control" in specification.read_text())
        late.unlink()
        await stage.kubelet.until(lambda: "nvidia-cuda-mps-control" not in specification.read_text())

    _play(play)


def test_without_a_driver_the_plugin_ends_and_says_why() -> None:
    async def play(stage: Stage) -> None:
        assert await asyncio.wait_for(stage.plugin.wait(), 30) == 1  # type: ignore[union-attr]
        log = stage.log.read_text()
        assert "libnvidia-ml.so.1 is in none of the library folders of the driver root /nowhere" in log
        assert "Ending, since FAIL_ON_INIT_ERROR is true" in log

    _play(play, DRIVER_ROOT_CTR_PATH="/nowhere")


def test_told_not_to_fail_the_plugin_waits_for_the_driver() -> None:
    async def play(stage: Stage) -> None:
        await stage.logs("libnvidia-ml.so.1 is in none of the library folders")
        assert stage.plugin is not None
        assert stage.plugin.returncode is None
        Path(stage.environ["DRIVER_ROOT_CTR_PATH"]).symlink_to(stage.machine.root)
        await stage.counts(2, 2)

    _play(play, DRIVER_ROOT_CTR_PATH="{folder}/later", FAIL_ON_INIT_ERROR="false")


def test_after_a_driver_upgrade_the_plugin_starts_itself_again() -> None:
    async def play(stage: Stage) -> None:
        await stage.counts(2, 2)
        stage.machine.upgrade_driver("590.10.01")
        await stage.logs("starting again with it")
        await stage.kubelet.until(lambda: len(stage.kubelet.registered) == 2)
        await stage.counts(2, 2)
        assert stage.plugin is not None
        assert stage.plugin.returncode is None  # the same process

    _play(play)


def test_a_hangup_reads_the_settings_again() -> None:
    async def play(stage: Stage) -> None:
        await stage.counts(2, 2)
        assert stage.plugin is not None
        stage.plugin.send_signal(signal.SIGHUP)
        await stage.logs("configuration changed: applying it")
        await stage.counts(2, 2)
        assert len(stage.kubelet.registered) == 1

    _play(play)


def test_bad_settings_end_in_one_line() -> None:
    async def play(stage: Stage) -> None:
        assert await asyncio.wait_for(stage.plugin.wait(), 30) == 2  # type: ignore[union-attr]
        assert stage.log.read_text().count("\n") == 1
        assert "MIG_STRATEGY: 'double' cannot be used: expected one of none, single, mixed" in stage.log.read_text()

    _play(play, MIG_STRATEGY="double")


def test_the_nodes_state_says_what_was_advertised_and_what_ails_it() -> None:
    async def play(stage: Stage) -> None:
        async with cluster_api(stage.machine.folder / "kubeconfig") as api:

            def state() -> dict[str, Any]:
                return api.last("/apis/lockgate.dev/v1alpha1/gpunodestates/gpu-a").get("status", {}).get("devices", {})

            await stage.kubelet.until(lambda: bool(state().get("registered")))
            assert state()["resources"] == {GPU: 2}
            assert [device["uuid"] for device in state()["devices"]] == stage.machine.uuids
            assert state()["devices"][0]["memoryMib"] == 40960
            assert state()["strategies"] == ["cdi-cri"]
            assert state()["cdiKind"] == "k8s.device-plugin.nvidia.com/gpu"
            await stage.kubelet.until(lambda: stage.machine.control.xid(0, 13) > 0)  # of an application
            await stage.kubelet.until(lambda: state().get("xids") == [{"code": 13, "uuid": stage.machine.uuids[0]}])
            stage.machine.control.lose(1)
            await stage.kubelet.until(lambda: state()["devices"][1].get("reason", "").startswith("GPU is lost"))
            assert state()["devices"][1]["healthy"] is False
            written = len(api.applied)
            await asyncio.sleep(1)  # several looks, and nothing new
            assert len(api.applied) == written

    _play(play, KUBECONFIG="{folder}/kubeconfig", NODE_NAME="gpu-a", DEVICE_LIST_STRATEGY="cdi-cri")


def test_the_plugin_stays_small() -> None:
    async def play(stage: Stage) -> None:
        async with cluster_api(stage.machine.folder / "kubeconfig") as api:
            await stage.counts(8, 8)
            await stage.kubelet.until(lambda: bool(api.applied))
            assert stage.plugin is not None
            status = Path(f"/proc/{stage.plugin.pid}/status").read_text()
            resident = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
            print(f"resident: {resident} KiB")
            assert resident < 60 * 1024

    _play(play, gpus="8xH100-SXM5-80GB", KUBECONFIG="{folder}/kubeconfig", NODE_NAME="gpu-a")
