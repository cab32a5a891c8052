"""The discovery process as a pod runs it: one manager, two objects, and little memory."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.agents.discovery.test_gate_two import GPU, host, node
from tests.agents.discovery.test_scan import put_pci
from tests.kube.fake_server import Answer, Request, fake_server

STATE = "/apis/lockgate.dev/v1alpha1/gpunodestates/gpu-a"
LIMIT = 60 << 10  # KiB that an agent of a node may take


async def _life(folder: Path, applied: dict[str, dict[str, Any]]) -> int:
    """Run until the node's state is published; the memory that it takes then, in KiB."""

    def answer(request: Request) -> Answer:
        if request.method == "PATCH":
            assert request.query["fieldManager"] == "lockgate-discovery"
            applied[request.path] = json.loads(request.body)
            return Answer(applied[request.path])
        return Answer(node(GPU) | {"metadata": {"name": "gpu-a", "uid": "1", "labels": GPU}})

    async with fake_server(answer) as server:
        config = {
            "clusters": [{"name": "c", "cluster": {"server": server.url}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        (folder / "kubeconfig").write_text(json.dumps(config))
        settings = {"KUBECONFIG": str(folder / "kubeconfig"), "NODE_NAME": "gpu-a", "HOST_ROOT": str(folder / "host")}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "lockgate.agents.discovery", env={**os.environ, **settings}
        )
        async with asyncio.timeout(30):
            while STATE not in applied:
                await asyncio.sleep(0.05)
        memory = Path(f"/proc/{process.pid}/status").read_text().partition("VmRSS:")[2].split()[0]
        process.terminate()
        assert await asyncio.wait_for(process.wait(), 30) == 0
    return int(memory)


def test_a_gpu_node_is_labelled_and_its_gate_two_published(tmp_path: Path) -> None:
    (tmp_path / "host").mkdir()
    put_pci(host(tmp_path / "host"), "0000:07:00.0", "0x10de", "0x030200")
    applied: dict[str, dict[str, Any]] = {}
    assert asyncio.run(_life(tmp_path, applied)) < LIMIT
    assert applied["/api/v1/nodes/gpu-a"]["metadata"]["labels"].items() >= GPU.items()
    status = applied[STATE]["status"]
    assert status["runtime"]["release"] == "1.7.24"
    assert [spec["path"] for spec in status["cdi"]["specs"]] == ["/etc/cdi/a.json"]
