"""`collect --probe`: the bundle holds the node's files, and no pod stays, whatever happens in between."""

import asyncio
import json
import os
import signal
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_collect import config
from tests.cli.test_smoke import IMAGE, Estate, node
from tests.cli.test_why import run
from tests.collect.test_probe import node as node_root
from tests.collect.test_probe import printed
from tests.kube.fake_server import Answer, Request, fake_server


class Probed(Estate):
    """An estate with Lockgate in it, whose pods print what the probe reads of a folder."""

    def __init__(self, root: Path, *nodes: dict[str, Any], log: str = "", **behaviour: str) -> None:
        super().__init__(*nodes, **behaviour)
        self._log = log or printed(node_root(root))

    def begin(self) -> None:
        super().begin()
        spec = {"containers": [{"name": "main", "image": IMAGE}]}
        labels = {"app": "lockgate-discovery"}
        template = {"metadata": {"labels": labels}, "spec": spec}
        manifest = {"metadata": {"labels": labels}, "spec": {"selector": {"matchLabels": labels}, "template": template}}
        self.cluster.put("/apis/apps/v1/namespaces/gpu-operator/daemonsets/lockgate-discovery", manifest)

    def __call__(self, request: Request) -> Answer:
        return Answer(self._log.encode()) if request.path.endswith("/log") else super().__call__(request)

    @property
    def left(self) -> list[str]:
        return [path for path in self.cluster.objects if "lockgate-probe" in path]


async def _collect(
    folder: Path, estate: Probed, *arguments: str, stop: signal.Signals | None = None
) -> tuple[int, str]:
    async with fake_server(estate) as server:
        estate.begin()
        where = ("-o", str(folder / "bundle.tgz"), "--kubeconfig", str(config(folder, server.url)))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "lockgate.cli.main", "collect", *where, *arguments),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        if stop is not None:
            async with asyncio.timeout(60):
                while not estate.left:
                    await asyncio.sleep(0.05)
            os.kill(process.pid, stop)
        _, err = await asyncio.wait_for(process.communicate(), 60)
        return process.returncode or 0, err.decode()


def collect(folder: Path, estate: Probed, *arguments: str, stop: signal.Signals | None = None) -> tuple[int, str]:
    return asyncio.run(_collect(folder, estate, *arguments, stop=stop))


def manifest(folder: Path) -> dict[str, Any]:
    with tarfile.open(folder / "bundle.tgz") as tar:
        file = tar.extractfile("bundle/manifest.json")
        assert file is not None
        document: dict[str, Any] = json.load(file)
        return document


def test_the_files_of_every_gpu_node_are_in_the_bundle(tmp_path: Path) -> None:
    estate = Probed(tmp_path / "root", node("gpu-a"), node("gpu-b"))
    code, err = collect(tmp_path, estate, "--probe", "all")
    assert (code, estate.left) == (0, []), err
    assert "--probe makes 2 pods in namespace gpu-operator, on gpu-a, gpu-b" in err
    assert err.index("--probe makes") < err.index("node gpu-a: ")
    assert manifest(tmp_path)["nodes"].keys() == {"gpu-a", "gpu-b"}
    (made, _) = estate.made
    (container,) = made["spec"]["containers"]
    assert container["image"] == IMAGE
    assert container["volumeMounts"] == [
        {"name": "host", "mountPath": "/host", "readOnly": True, "recursiveReadOnly": "IfPossible"}
    ]
    assert "privileged" not in json.dumps(made)
    answer = run("lint", str(tmp_path / "bundle.tgz"), "--node", "gpu-a", "-o", "json", "--release", "1.7.27")
    assert "/etc/containerd/config.toml" in answer.stdout


def test_without_being_asked_nothing_is_made(tmp_path: Path) -> None:
    estate = Probed(tmp_path / "root", node("gpu-a"))
    collect(tmp_path, estate)
    assert (estate.made, {m for m, _ in estate.cluster.calls}) == ([], {"GET"})


def test_a_node_whose_probe_says_nothing_of_use_is_a_gap(tmp_path: Path) -> None:
    estate = Probed(tmp_path / "root", node("gpu-a"), log="python3: No module named lockgate\n")
    code, err = collect(tmp_path, estate, "--probe", "gpu-a")
    assert (code, estate.left) == (4, [])
    assert "No module named lockgate" in manifest(tmp_path)["nodes"]["gpu-a"]["missing"]
    assert "node gpu-a: not read" in err


def test_a_probe_that_does_not_run_is_a_gap_with_its_reason(tmp_path: Path) -> None:
    estate = Probed(tmp_path / "root", node("gpu-a"), gpu_a="nothing happens")
    code, _ = collect(tmp_path, estate, "--probe", "gpu-a", "--probe-timeout", "1s")
    assert (code, estate.left) == (4, [])
    assert "did not end within 1 s" in manifest(tmp_path)["nodes"]["gpu-a"]["missing"]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_removes_the_pods_and_keeps_what_was_read(ending: signal.Signals, tmp_path: Path) -> None:
    estate = Probed(tmp_path / "root", node("gpu-a"), gpu_a="nothing happens")
    code, err = collect(tmp_path, estate, "--probe", "all", stop=ending)
    assert (code, estate.left) == (130, []), err
    assert manifest(tmp_path)["sections"]["nodes"]["count"] == 1
    assert "interrupted before" in manifest(tmp_path)["nodes"]["gpu-a"]["missing"]
    assert "holds what was read until then (without gpu-a)" in err


def test_a_node_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    code, err = collect(tmp_path, Probed(tmp_path / "root", node("gpu-a")), "--probe", "gpu-z")
    assert (code, "--probe gpu-z: no such node (there is: gpu-a)" in err) == (2, True)
    assert not (tmp_path / "bundle.tgz").exists()
