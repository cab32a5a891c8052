"""The operator on 5,000 GPU nodes: memory, node events per CPU second, and the CPU of one pass over the policy.

Budget (docs/decisions/0021-operator.md): under 200 MB, at least 5,000 node events per CPU second. The API server is a
process of its own that serves prepared bytes, so that only the operator is measured: `python -m bench.operator_scale`.
"""

import argparse
import asyncio
import json
import multiprocessing
import resource
import time
from collections.abc import AsyncIterator
from typing import Any

from lockgate.kit.garbage import collect_seldom

NODES, EVENTS, PAGE = 5000, 50_000, 500
IMAGES = [{"names": [f"registry.example/team/image-{i}@sha256:{i:064d}"], "sizeBytes": 123456789} for i in range(50)]


def node(number: int, version: int) -> dict[str, Any]:
    """A node of about 18 KB, labelled as the operator leaves it."""
    from lockgate.model.policy import PolicySpec
    from lockgate.operands.labels import changes

    found = {"kubernetes.io/hostname": f"node-{number}", "feature.node.kubernetes.io/pci-10de.present": "true"}
    found |= {f"feature.node.kubernetes.io/cpu-cpuid.FLAG{i}": "true" for i in range(60)}
    labels = {**found, **{k: v for k, v in changes(found, {}, PolicySpec()).labels.items() if v is not None}}
    told = {"status": "False", "reason": "KubeletHas", "message": "kubelet has enough of it"}
    kinds = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    conditions = [{"type": kind, "lastHeartbeatTime": "2026-01-01T00:00:00Z", **told} for kind in kinds]
    return {
        "metadata": {"name": f"node-{number}", "uid": f"u{number}", "resourceVersion": str(version), "labels": labels},
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": f"x://{number}"},
        "status": {
            "capacity": {"cpu": "96", "memory": "1Ti", "nvidia.com/gpu": "8", "pods": "110"},
            "allocatable": {"cpu": "95", "memory": "1Ti", "nvidia.com/gpu": "8", "pods": "110"},
            "conditions": conditions,
            "images": IMAGES,
            "nodeInfo": {"containerRuntimeVersion": "containerd://2.1.0", "kubeletVersion": "v1.34.0"},
        },
    }


def serve(port: Any) -> None:
    """The API server: prepared pages, and a watch that sends heartbeats as fast as they are taken."""
    from tests.kube.fake_server import Answer, FakeServer, Request

    encoded = [json.dumps(node(i, 1 + i)).encode() for i in range(NODES)]
    pages = [b",".join(encoded[i : i + PAGE]) for i in range(0, NODES, PAGE)]
    policy = {"metadata": {"name": "p", "uid": "p", "generation": 1, "resourceVersion": "1"}, "spec": {}}

    async def heartbeats() -> AsyncIterator[bytes]:
        await asyncio.sleep(3)  # the first passes are over
        for first in range(0, EVENTS, 100):
            lines = [
                b'{"type":"MODIFIED","object":' + json.dumps(node(i % NODES, 10_000 + i)).encode() + b"}\n"
                for i in range(first, first + 100)
            ]
            yield b"".join(lines)
        await asyncio.sleep(3600)

    async def silence() -> AsyncIterator[bytes]:
        await asyncio.sleep(3600)
        yield b""

    def handle(request: Request) -> Answer:
        if request.query.get("watch"):
            return Answer(stream=heartbeats() if request.path.endswith("/nodes") else silence())
        if request.path.endswith("/nodes"):
            number = int(request.query.get("continue", "0"))
            more = str(number + 1) if number + 1 < len(pages) else ""
            meta = b'{"metadata":{"resourceVersion":"5001","continue":"%s"},"items":[' % more.encode()
            return Answer(meta + pages[number] + b"]}")
        if request.path.endswith("/clusterpolicies"):
            return Answer({"metadata": {"resourceVersion": "1"}, "items": [policy]})
        if request.method == "GET":
            return Answer({"metadata": {"resourceVersion": "1"}, "items": []})
        return Answer({"metadata": {"name": "x", "generation": 1}})

    async def main() -> None:
        server = await asyncio.start_server(FakeServer(handle).serve, "127.0.0.1", 0, limit=1 << 20)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


async def measure(port: int) -> dict[str, float]:
    import httpx2

    from lockgate.controllers.operator import Operator
    from lockgate.controllers.settings import read_settings
    from lockgate.kube.api import Api
    from lockgate.kube.config import Connection

    flags = ["--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0", "--log-level=error"]
    settings = read_settings(flags, {"OPERATOR_NAMESPACE": "gpu-operator"})
    url = f"http://127.0.0.1:{port}"
    connection = Connection(client=httpx2.AsyncClient(base_url=url), server=url, namespace="", source="bench")
    async with Api(connection) as api:
        operator = Operator(settings, api)
        world = operator.world
        started = time.process_time()
        task = asyncio.create_task(operator.run())
        await world.synced()
        listed = time.process_time() - started
        await _until(world, 10_000)
        before = time.process_time()
        await _until(world, 10_000 + EVENTS - 1)
        spent = time.process_time() - before
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return {
        "list of 5,000 nodes, CPU s": round(listed, 2),
        "node events per CPU s": round(EVENTS / spent),
        "peak MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }


async def _until(world: Any, version: int) -> None:
    while max(int(node.metadata.resource_version) for node in world.nodes) < version:  # noqa: ASYNC110 - looks from outside
        await asyncio.sleep(0.2)


def main() -> dict[str, float]:
    """Measure; the numbers by name."""
    collect_seldom()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    server.start()
    try:
        return asyncio.run(measure(here.recv()))
    finally:
        server.terminate()


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    for name, value in main().items():
        print(f"{name:30} {value}")
