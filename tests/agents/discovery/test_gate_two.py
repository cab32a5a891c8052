"""Discovery publishes gate 2 of GPU nodes that have no toolkit of ours: files and specifications, written on change."""

import asyncio
from pathlib import Path
from typing import Any

from lockgate.agents.discovery.agent import Discovery
from lockgate.agents.discovery.gate_two import NOTHING, State, gate_two
from tests.agents.discovery.test_agent import Server
from tests.agents.discovery.test_scan import put, put_pci

GPU = {"feature.node.kubernetes.io/pci-10de.present": "true"}
TOOLKIT = {"nvidia.com/gpu.deploy.container-toolkit": "true"}
CONFIG = 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n'
SPEC = '{"cdiVersion": "0.5.0", "kind": "a.com/b", "devices": [{"name": "x", "containerEdits": {"env": ["A=1"]}}]}'


def node(labels: dict[str, str], version: str = "containerd://1.7.24") -> dict[str, Any]:
    return {"metadata": {"labels": labels}, "status": {"nodeInfo": {"containerRuntimeVersion": version}}}


def host(folder: Path) -> Path:
    put(folder, "etc/containerd/config.toml", CONFIG)
    put(folder, "etc/containerd/conf.d/50.toml", "version = 2\n")
    put(folder, "etc/cdi/a.json", SPEC)
    return folder


def test_files_and_specifications_are_published_with_the_release_that_reads_them(tmp_path: Path) -> None:
    found = gate_two(host(tmp_path), node(GPU))
    assert found is not None
    runtime, cdi = found
    assert runtime is not None and cdi is not None
    assert (runtime.release, runtime.config_path, runtime.phase) == ("1.7.24", "/etc/containerd/config.toml", "")
    assert [(file.path, file.text) for file in runtime.files] == [
        ("/etc/containerd/config.toml", CONFIG),
        ("/etc/containerd/conf.d/50.toml", "version = 2\n"),
    ]
    assert [(spec.path, spec.devices, spec.text) for spec in cdi.specs] == [("/etc/cdi/a.json", ("x",), SPEC)]


def test_the_toolkit_goes_before_and_a_node_without_gpus_has_nothing_to_say(tmp_path: Path) -> None:
    assert gate_two(host(tmp_path), node(GPU | TOOLKIT)) == NOTHING
    assert gate_two(host(tmp_path), node({})) is None


def test_another_runtime_has_its_specifications_published(tmp_path: Path) -> None:
    found = gate_two(host(tmp_path), node(GPU, "cri-o://1.31.0"))
    assert found is not None and found[0] is None
    assert found[1] is not None and len(found[1].specs) == 1


def test_a_release_that_nobody_knows_or_no_configuration_is_no_error(tmp_path: Path) -> None:
    for version in ("containerd://unknown", "containerd://1.2.0", ""):
        found = gate_two(host(tmp_path), node(GPU, version))
        assert found is not None and found[0] is None
    found = gate_two(tmp_path / "empty", node(GPU))
    assert found is not None and found[0] is None


class Node(Server):
    """The server of labels, which also knows the node's runtime."""

    async def get_manifest(self, resource: Any, name: str, namespace: str | None = None) -> dict[str, Any]:
        manifest = await super().get_manifest(resource, name, namespace)
        return {**manifest, "status": {"nodeInfo": {"containerRuntimeVersion": "containerd://1.7.24"}}}


def test_an_agent_publishes_changes_alone_and_withdraws_for_a_toolkit(tmp_path: Path) -> None:
    put_pci(tmp_path, "0000:07:00.0", "0x10de", "0x030200")
    put(tmp_path, "proc/sys/kernel/osrelease", "6.8.0\n")
    server, seen = Node(), list[State]()

    async def until(count: int) -> None:
        async with asyncio.timeout(10):
            while len(seen) < count:
                await asyncio.sleep(0.01)

    async def life() -> None:
        stop = asyncio.Event()
        agent = Discovery(server, "gpu-a", host(tmp_path), every=0.01, publish=seen.append)
        running = asyncio.create_task(agent.run(stop))
        await until(1)
        await asyncio.sleep(0.2)
        assert len(seen) == 1, "many looks, and nothing new"
        put(tmp_path, "etc/containerd/conf.d/50.toml", "version = 2\noom_score = 1\n")
        await until(2)
        server.labels |= TOOLKIT
        await until(3)
        stop.set()
        await running

    asyncio.run(life())
    assert seen[0][0] is not None and "oom_score" not in seen[0][0].files[1].text
    assert seen[1][0] is not None and "oom_score" in seen[1][0].files[1].text
    assert seen[2] == NOTHING
