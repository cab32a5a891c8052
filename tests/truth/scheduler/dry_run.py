"""How many copies of a pod fit: by creating copies on the real scheduler until no more are bound, and by the model.

`python -m tests.truth.scheduler.dry_run --nodes 500 --gpus 1`: both counts and both times. Copies do not notice each
other, so the order in which they are placed cannot change the count.
"""

import argparse
import json
import time
from dataclasses import dataclass

import msgspec

from lockgate.capacity.ask import asking
from lockgate.capacity.copies import place_copies
from lockgate.model.objects import Pod
from lockgate.scheduling.requests import defaulted
from tests.truth.scheduler.compare import observe, prepare
from tests.truth.scheduler.control_plane import Client, control_plane
from tests.truth.scheduler.worlds import Json, Maker

_NAMESPACE = "team-a"
_WITHIN = 300.0


@dataclass(frozen=True, slots=True)
class Compared:
    """Copies that fit and seconds that it took to know, by the scheduler and by the model."""

    bound: int
    scheduler_seconds: float
    modelled: int
    model_seconds: float


def compare(client: Client, seed: int, nodes: int, gpus: int) -> Compared:
    """Fill a cluster of generated nodes with copies; the model is asked first, about the empty cluster."""
    for node in Maker(seed).nodes(nodes):
        client.request("POST", "/api/v1/nodes", node)
    asked = asking(_NAMESPACE, gpus=gpus)
    pod = msgspec.structs.replace(asked, spec=defaulted(asked.spec))
    seen = observe(client)
    started = time.monotonic()
    modelled = place_copies(pod, seen, 1_000_000).count
    model_seconds = time.monotonic() - started
    started = time.monotonic()
    bound = _fill(client, pod, modelled + 20)
    return Compared(bound, time.monotonic() - started, modelled, model_seconds)


def _fill(client: Client, pod: Pod, copies: int) -> int:
    """Create more copies than can fit and wait until the scheduler has answered for each."""
    for number in range(copies):
        client.request("POST", f"/api/v1/namespaces/{_NAMESPACE}/pods", _body(pod, f"copy-{number}"))
    until = time.monotonic() + _WITHIN
    while time.monotonic() < until:
        pods = json.loads(client.request("GET", f"/api/v1/namespaces/{_NAMESPACE}/pods")[1])["items"]
        if all(p["spec"].get("nodeName") or p["status"].get("conditions") for p in pods):
            return sum("nodeName" in p["spec"] for p in pods)
        time.sleep(0.2)
    raise TimeoutError(f"the scheduler did not answer for {copies} pods within {_WITHIN:.0f} s")


def _body(pod: Pod, name: str) -> Json:
    body: Json = msgspec.to_builtins(pod)
    body["metadata"]["name"] = name
    for container in body["spec"]["containers"]:
        container["image"] = "x"
    return {"apiVersion": "v1", "kind": "Pod", **body}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.truth.scheduler.dry_run", description=__doc__)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with control_plane() as client:
        prepare(client)
        seen = compare(client, options.seed, options.nodes, options.gpus)
    times = seen.scheduler_seconds / max(seen.model_seconds, 1e-9)
    print(f"scheduler: {seen.bound} copies in {seen.scheduler_seconds:.1f} s")
    print(f"model:     {seen.modelled} copies in {seen.model_seconds:.4f} s, {times:.0f} times faster")
    return 0 if seen.bound == seen.modelled else 1


if __name__ == "__main__":
    raise SystemExit(main())
