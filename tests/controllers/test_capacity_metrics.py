"""The operator's capacity gauges: the numbers of `kubectl gpu capacity`, kept while the cluster cannot be asked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from prometheus_client import CollectorRegistry

from lockgate.controllers.capacity_metrics import CapacityMetrics
from lockgate.controllers.settings import read_settings
from lockgate.kube.informer import Informer
from lockgate.kube.resources import NODES
from tests.kube.fake_server import fake_api, status
from tests.kube.small_cluster import SmallCluster

PODS = "/api/v1/pods"
ABOUT = {"product": "A100", "resource": "nvidia.com/gpu"}


def put_nodes(found: SmallCluster, product: str) -> None:
    room = {"pods": "110", "nvidia.com/gpu": "8"}
    for name in ("a", "b"):
        status = {"capacity": room, "allocatable": room}
        labels = {"nvidia.com/gpu.product": product}
        found.put(f"/api/v1/nodes/{name}", {"metadata": {"labels": labels}, "status": status})


def cluster() -> SmallCluster:
    found = SmallCluster()
    put_nodes(found, "A100")
    container = {"name": "c", "resources": {"requests": {"nvidia.com/gpu": "5"}}}
    body = {"metadata": {"namespace": "d"}, "spec": {"nodeName": "a", "containers": [container]}}
    found.put("/api/v1/namespaces/d/pods/p", body)
    return found


@asynccontextmanager
async def running(found: SmallCluster) -> AsyncIterator[CollectorRegistry]:
    """The gauges of a cluster, looked at a hundred times a second."""
    registry = CollectorRegistry()
    async with fake_api(found.handle) as (_, api, _waits):
        nodes = Informer(api, NODES)
        tasks = [asyncio.create_task(nodes.run())]
        await nodes.synced.wait()
        tasks.append(asyncio.create_task(CapacityMetrics(api, nodes, registry).run(0.01)))
        try:
            yield registry
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def until(registry: CollectorRegistry, name: str, value: float | None, **labels: str) -> None:
    async with asyncio.timeout(5):
        while registry.get_sample_value(f"lockgate_gpu_{name}", ABOUT | labels) != value:
            await asyncio.sleep(0.01)


def test_the_gauges_follow_the_cluster() -> None:
    async def main() -> None:
        found = cluster()
        async with running(found) as registry:
            await until(registry, "slots", 11, state="headroom")
            await until(registry, "slots", 5, state="requested")
            await until(registry, "largest_request", 8)
            await until(registry, "requests_that_fit", 2, size="4")
            assert registry.get_sample_value("lockgate_gpu_slots", ABOUT | {"state": "idle"}) is None
            put_nodes(found, "H100")
            await until(registry, "slots", None, state="headroom")

    asyncio.run(main())


def test_a_refused_look_leaves_the_last_numbers() -> None:
    async def main() -> None:
        found = cluster()
        async with running(found) as registry:
            await until(registry, "slots", 11, state="headroom")
            found.refuse[f"GET {PODS}"] = status(403, "Forbidden", "pods is forbidden")
            asked = found.calls.count(("GET", PODS))
            async with asyncio.timeout(5):
                while found.calls.count(("GET", PODS)) < asked + 2:
                    await asyncio.sleep(0.01)
            await until(registry, "slots", 11, state="headroom")

    asyncio.run(main())


@pytest.mark.parametrize(("flags", "every"), [([], 0.0), (["60s"], 60.0), (["0"], 0.0), (["2m"], 120.0)])
def test_it_is_off_unless_asked_for(flags: list[str], every: float) -> None:
    argv = [f"--capacity-metrics-interval={flag}" for flag in flags]
    assert read_settings(argv, {"OPERATOR_NAMESPACE": "gpu-operator"}).capacity_every == every
