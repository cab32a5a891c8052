"""Capacity and fit over 5,000 nodes and 100,000 pods, after reading: CPU seconds, as `python -m bench.capacity_scale`.

Budget: each under one CPU second on one core. Reading (decoding the API's JSON) is measured apart.
"""

import random
import resource
import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from lockgate.capacity.ask import asking
from lockgate.capacity.copies import place_copies
from lockgate.capacity.fit import fit
from lockgate.capacity.overview import overview, scene_of
from lockgate.capacity.table import By
from lockgate.kit.garbage import collect_seldom
from lockgate.model.facts import Snapshot
from lockgate.model.objects import Node, Pod

NODES, PODS, BUDGET = 5000, 100_000, 1.0
GPU = "nvidia.com/gpu"
T = TypeVar("T")


def node(number: int) -> dict[str, Any]:
    """Every second node has eight GPUs, every fiftieth is cordoned."""
    labels = {"kubernetes.io/hostname": f"n{number}"}
    room = {"pods": "110", "cpu": "64", "memory": "512Gi"}
    if number % 2 == 0:
        labels |= {"nvidia.com/gpu.product": "A100", "nvidia.com/gpu.count": "8", "nvidia.com/gpu.memory": "40960"}
        room[GPU] = "8"
    status = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
    spec = {"unschedulable": number % 50 == 0}
    return {"metadata": {"name": f"n{number}", "labels": labels}, "spec": spec, "status": status}


def pods(seed: int) -> list[dict[str, Any]]:
    """Pods at random on the nodes, some with GPUs, never more than a node has."""
    drawn, free = random.Random(seed), [8 if number % 2 == 0 else 0 for number in range(NODES)]
    made = []
    for number in range(PODS):
        where = drawn.randrange(NODES)
        gpus = min(drawn.choice((0, 0, 0, 1, 2, 4)), free[where])
        free[where] -= gpus
        requests = {"cpu": drawn.choice(("100m", "500m", "1")), "memory": "1Gi"} | ({GPU: str(gpus)} if gpus else {})
        made.append(_pod(f"p{number}", f"n{where}", requests))
    return made


def _pod(name: str, where: str, requests: dict[str, str]) -> dict[str, Any]:
    owner = {"kind": "ReplicaSet", "name": "x", "controller": True}
    container = {"name": "c", "resources": {"requests": requests}}
    told = {"name": "c", "allocatedResources": requests, "resources": {"requests": requests}}
    return {
        "metadata": {"name": name, "namespace": "d", "ownerReferences": [owner]},
        "spec": {"nodeName": where, "containers": [container]},
        "status": {"phase": "Running", "containerStatuses": [told]},
    }


def main() -> int:
    """Measure and print; 1 when a budget is missed."""
    nodes = msgspec.json.encode([node(number) for number in range(NODES)])
    listed = msgspec.json.encode(pods(1))
    collect_seldom()
    snapshot = _timed("read", lambda: _decoded(nodes, listed))[0]
    _, counted = _timed("capacity", lambda: overview(snapshot, By.NODE))
    scene, put = _timed("scene", lambda: scene_of(snapshot))
    _, many = _timed("fit 2000 x 8", lambda: fit(asking("d", gpus=8), scene, 2000))
    _, few = _timed("fit 10 x 1", lambda: fit(asking("d", gpus=1), scene, 10))
    free = place_copies(asking("d", gpus=8), scene, NODES).count
    _, moved = _timed("fit + moves", lambda: fit(asking("d", gpus=8), scene, free + 8))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB, generated input included")
    return 1 if max(counted, put + many, put + few, put + moved) > BUDGET else 0


def _decoded(nodes: bytes, listed: bytes) -> Snapshot:
    return Snapshot(
        nodes=msgspec.json.decode(nodes, type=tuple[Node, ...]), pods=msgspec.json.decode(listed, type=tuple[Pod, ...])
    )


def _timed(what: str, work: Callable[[], T]) -> tuple[T, float]:
    started = time.process_time()
    result = work()
    spent = time.process_time() - started
    print(f"{what:<14}{spent:6.2f} CPU s")
    return result, spent


if __name__ == "__main__":
    raise SystemExit(main())
