"""Feature discovery as a process: from a simulated driver to NFD's file, to NFD's API, or to the Node itself."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

from tests.agents.cluster_api import ClusterApi, cluster_api
from tests.agents.machine import Machine, machine

NODE = "/api/v1/nodes/gpu-a"
FEATURE = "/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/gpu-operator/nodefeatures/nvidia-features-for-gpu-a"
COMMAND = (sys.executable, "-m", "lockgate.agents.features")


def _once(made: Machine, **environ: str) -> subprocess.CompletedProcess[str]:
    full = made.environment | {"GFD_ONESHOT": "true"} | environ
    return subprocess.run(COMMAND, env=full, capture_output=True, text=True, timeout=30)


def test_nfds_file_gets_a_line_for_each_label() -> None:
    with machine("2xA100-SXM4-40GB") as made:
        (made.folder / "machine").write_text("PowerEdge R750xa\n")
        assert _once(made).returncode == 0
        lines = (made.features / "gfd").read_text().splitlines()
        assert "nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB" in lines
        assert "nvidia.com/gpu.count=2" in lines
        assert "nvidia.com/gpu.machine=PowerEdge-R750xa" in lines
        assert "nvidia.com/mig.capable=true" in lines


def test_boards_are_told_apart() -> None:
    expected = {
        "1xT4": ("Tesla-T4", "turing", "false"),
        "1xH100-SXM5-80GB": ("NVIDIA-H100-80GB-HBM3", "hopper", "true"),
    }
    for gpus, (product, family, capable) in expected.items():
        with machine(gpus) as made:
            assert _once(made).returncode == 0
            labels = dict(line.split("=") for line in (made.features / "gfd").read_text().splitlines())
            assert labels["nvidia.com/gpu.product"] == product
            assert labels["nvidia.com/gpu.family"] == family
            assert labels["nvidia.com/mig.capable"] == capable


def test_without_a_file_the_labels_are_printed() -> None:
    with machine("1xT4") as made:
        assert "nvidia.com/gpu.product=Tesla-T4\n" in _once(made, GFD_OUTPUT_FILE="").stdout


def test_without_a_driver_it_ends_and_says_why() -> None:
    with machine("1xT4") as made:
        done = _once(made, DRIVER_ROOT_CTR_PATH="/nowhere")
        assert done.returncode == 1
        assert "the driver root /nowhere" in done.stderr


Play = Callable[[ClusterApi, Machine], Awaitable[None]]


def _play(
    play: Play, *, nfd: bool = False, failing: bool = False, files: dict[str, str] | None = None, **environ: str
) -> None:
    """Run a test's body beside the process; `{folder}` in a variable stands for the machine's folder."""

    async def run(made: Machine) -> None:
        async with cluster_api(made.folder / "kubeconfig", nfd=nfd) as api:
            api.failing = failing
            full = made.environment | {"KUBECONFIG": str(made.folder / "kubeconfig"), "NODE_NAME": "gpu-a"}
            full |= {name: value.format(folder=made.folder) for name, value in environ.items()}
            with (made.folder / "log").open("ab") as log:
                process = await asyncio.create_subprocess_exec(*COMMAND, env=full, stderr=log)
            try:
                await play(api, made)
            finally:
                if process.returncode is None:
                    process.send_signal(signal.SIGTERM)
                assert await asyncio.wait_for(process.wait(), 30) == 0

    with machine("2xA100-SXM4-40GB") as made:
        for name, text in (files or {}).items():
            (made.folder / name).write_text(text)
        asyncio.run(run(made))


async def _until(condition: Callable[[], bool], timeout: float = 30.0) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"not within {timeout} s"
        await asyncio.sleep(0.02)


def test_without_nfd_the_node_itself_is_labelled() -> None:
    async def play(api: ClusterApi, made: Machine) -> None:
        await _until(lambda: bool(api.last(NODE)))
        path, manager, body = api.applied[-1]
        assert (path, manager) == (NODE, "lockgate-features")
        assert body["metadata"]["labels"]["nvidia.com/gpu.count"] == "2"
        assert set(body["metadata"]) == {"name", "labels"}

    _play(play)


def test_with_nfd_a_nodefeature_is_applied_and_the_node_left_alone() -> None:
    async def play(api: ClusterApi, made: Machine) -> None:
        await _until(lambda: bool(api.last(FEATURE)))
        body = api.last(FEATURE)
        assert body["metadata"]["labels"] == {"nfd.node.kubernetes.io/node-name": "gpu-a"}
        assert body["spec"]["labels"]["nvidia.com/gpu.count"] == "2"
        assert not api.last(NODE)

    _play(play, nfd=True, NAMESPACE="gpu-operator")


def test_told_not_to_use_nfds_api_the_node_is_labelled() -> None:
    async def play(api: ClusterApi, made: Machine) -> None:
        await _until(lambda: bool(api.last(NODE)))
        assert not api.last(FEATURE)

    _play(play, nfd=True, USE_NODE_FEATURE_API="false")


def test_unchanged_labels_are_not_written_again() -> None:
    async def play(api: ClusterApi, made: Machine) -> None:
        await _until(lambda: bool(api.last(NODE)))
        await asyncio.sleep(1)  # ten looks
        assert len(api.applied) == 1

    _play(play)


def test_sharing_that_is_switched_on_while_it_runs_is_labelled() -> None:
    async def play(api: ClusterApi, made: Machine) -> None:
        await _until(lambda: bool(api.last(NODE)))
        assert api.last(NODE)["metadata"]["labels"]["nvidia.com/gpu.replicas"] == "1"
        (made.folder / "config.yaml").write_text("sharing: {timeSlicing: {resources: [{name: gpu, replicas: 4}]}}")
        await _until(lambda: api.last(NODE)["metadata"]["labels"]["nvidia.com/gpu.replicas"] == "4")

    _play(play, files={"config.yaml": "version: v1"}, CONFIG_FILE="{folder}/config.yaml")


def test_labels_stay_while_a_gpu_or_the_driver_is_away() -> None:
    async def play(api: ClusterApi, made: Machine) -> None:
        await _until(lambda: bool(api.last(NODE)))
        made.control.lose(1)
        await _until(lambda: "the labels stay as they are" in (made.folder / "log").read_text())
        made.control.unload_driver()
        await _until(lambda: "Driver Not Loaded" in (made.folder / "log").read_text())
        assert len(api.applied) == 1

    _play(play)


def test_labels_that_could_not_be_written_are_written_later() -> None:
    async def play(api: ClusterApi, made: Machine) -> None:
        await _until(lambda: "labels not delivered" in (made.folder / "log").read_text())
        assert not api.applied
        api.failing = False
        await _until(lambda: bool(api.last(NODE)))

    _play(play, failing=True)
