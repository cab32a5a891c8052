"""Try generated pods one by one on the real scheduler and on the model, and keep every difference.

The model reads what the API server stored, not what was sent, so that defaulting and decoding are part of the test.
After a pod is bound it stays; one that fits nowhere is deleted as soon as its condition is read.
"""

import json
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar

import msgspec

from lockgate.model.objects import (
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    StorageClass,
)
from lockgate.scheduling.filters import Placement, place
from lockgate.scheduling.messages import parse_failed_scheduling
from lockgate.scheduling.preemption import explanations, may_preempt, preempt
from lockgate.scheduling.scene import Scene, scene, storage
from tests.truth.scheduler.control_plane import Client
from tests.truth.scheduler.worlds import NAMESPACES, PRIORITIES, RUNTIME_OVERHEAD, Json, Maker, World

_ANSWER_WITHIN = 20.0
_SETTLE = 0.3  # the scheduler learns of objects from watches; nothing tells when it has seen them all
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Difference:
    """One pod on which model and scheduler do not agree, with all that is needed to see why."""

    seed: int
    pod: Json
    scheduler: str
    model: str
    nodes: list[Json] = field(default_factory=list)
    pods: list[Json] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Tally:
    """What was tried: pods decided, node/pod pairs behind those decisions, and what the API server would not have."""

    pods: int = 0
    pairs: int = 0
    bound: int = 0
    unschedulable: int = 0
    preempting: int = 0
    refused: int = 0
    reasons: tuple[tuple[str, int], ...] = ()
    differences: tuple[Difference, ...] = ()

    def plus(self, **more: Any) -> "Tally":
        return replace(self, **{name: getattr(self, name) + value for name, value in more.items()})

    def seen(self, counts: Any) -> "Tally":
        total = dict(self.reasons)
        for reason, count in counts.items():
            total[reason] = total.get(reason, 0) + count
        return replace(self, reasons=tuple(sorted(total.items())))


class Judge:
    """The scheduler's answers to pods, read from one watch on all pods."""

    def __init__(self, client: Client) -> None:
        self._changes: queue.Queue[Json] = queue.Queue()
        self._watch = client.watch("/api/v1/pods?watch=1&timeoutSeconds=86400")
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.stop()
        self._reader.join()

    def answer(self, uid: str) -> Json:
        """The pod as it is once it has a node, or the condition that says why not."""
        until = time.monotonic() + _ANSWER_WITHIN
        while (left := until - time.monotonic()) > 0:
            try:
                pod = self._changes.get(timeout=left)
            except queue.Empty:
                break
            if pod["metadata"]["uid"] == uid and (pod["spec"].get("nodeName") or refusal(pod)):
                return pod
        raise TimeoutError(f"the scheduler did not answer for pod {uid} within {_ANSWER_WITHIN:.0f} s")

    def _read(self) -> None:
        for line in self._watch.lines():
            event = json.loads(line)
            if event["type"] in ("ADDED", "MODIFIED"):
                self._changes.put(event["object"])


def refusal(pod: Json) -> str:
    """The message of the PodScheduled condition of a pod that was found unschedulable."""
    conditions = pod.get("status", {}).get("conditions", [])
    unscheduled = (c for c in conditions if c["type"] == "PodScheduled" and c.get("reason") == "Unschedulable")
    return next((condition["message"] for condition in unscheduled), "")


def prepare(client: Client) -> None:
    """What every world shares: namespaces with labels, priority classes, a runtime class with overhead."""
    for name, labels in NAMESPACES.items():
        _create(client, "/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    for name, value in PRIORITIES.items():
        api = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        body = {**api, "metadata": {"name": name}, "value": value}
        _create(client, "/apis/scheduling.k8s.io/v1/priorityclasses", body)
    for name, overhead in RUNTIME_OVERHEAD.items():
        body = {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": name},
            "handler": "runc",
            "overhead": {"podFixed": overhead},
        }
        _create(client, "/apis/node.k8s.io/v1/runtimeclasses", body)


def run(client: Client, seed: int, pods: int, say: Callable[[str], None], unequal: float = 0.25) -> Tally:
    """Try that many pods, in worlds of a few dozen each; returns the tally with every difference."""
    maker, tally = Maker(seed, unequal), Tally()
    with Judge(client) as judge:
        while tally.pods < pods:
            build(client, maker.world())
            time.sleep(_SETTLE)
            tally = _try_pods(client, judge, maker, seed, tally, min(40, pods - tally.pods))
            clear(client)
            say(f"{tally.pods} pods, {tally.pairs} pairs, {len(tally.differences)} differences")
    return tally


def build(client: Client, world: World) -> None:
    """Put a world into the API server."""
    for volume in world.volumes:
        _create(client, "/api/v1/persistentvolumes", volume)
    for claim in world.claims:
        _create(client, f"/api/v1/namespaces/{claim['metadata']['namespace']}/persistentvolumeclaims", claim)
    for node in world.nodes:
        _create(client, "/api/v1/nodes", node)
    for budget in world.budgets:
        path = f"/apis/policy/v1/namespaces/{budget['metadata']['namespace']}/poddisruptionbudgets"
        _create(client, path, budget)
        status = {"status": budget["status"]}
        path = f"{path}/{budget['metadata']['name']}/status"
        _must(client.request("PATCH", path, status, "application/merge-patch+json"))
    for pod in world.pods:
        _place(client, pod, world)


def clear(client: Client) -> None:
    """Remove nodes, pods, claims and volumes, and wait until they are gone."""
    for namespace in NAMESPACES:
        for plural in ("pods", "persistentvolumeclaims"):
            _empty(client, f"/api/v1/namespaces/{namespace}/{plural}")
        _empty(client, f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets")
    for plural in ("nodes", "persistentvolumes"):
        _empty(client, f"/api/v1/{plural}")


def observe(client: Client) -> Scene:
    """The cluster as the model sees it, decoded from the API server's own answers."""
    nodes = _list(client, "/api/v1/nodes", Node)
    pods = _list(client, "/api/v1/pods", Pod)
    namespaces = _list(client, "/api/v1/namespaces", Namespace)
    claims = _list(client, "/api/v1/persistentvolumeclaims", PersistentVolumeClaim)
    volumes = _list(client, "/api/v1/persistentvolumes", PersistentVolume)
    classes = _list(client, "/apis/storage.k8s.io/v1/storageclasses", StorageClass)
    budgets = _list(client, "/apis/policy/v1/poddisruptionbudgets", PodDisruptionBudget)
    return scene(nodes, pods, namespaces, storage(claims, volumes, classes), budgets)


def _try_pods(client: Client, judge: Judge, maker: Maker, seed: int, tally: Tally, count: int) -> Tally:
    seen = observe(client)
    for _ in range(count):
        body = maker.pod()
        status, answer = client.request("POST", _pods(body), body)
        if status != 201:
            tally = tally.plus(refused=1)
            continue
        pod = msgspec.json.decode(answer, type=Pod)
        placement = place(pod, seen)
        decided = judge.answer(pod.metadata.uid)
        problem, model, preempts = _difference(pod, seen, placement, decided)
        tally = tally.plus(pods=1, pairs=len(seen.nodes)).seen(placement.counts)
        if problem:
            raw = [json.loads(client.request("GET", path)[1])["items"] for path in ("/api/v1/nodes", "/api/v1/pods")]
            tally = tally.plus(differences=(Difference(seed, decided, problem, model, *raw),))
        if node := decided["spec"].get("nodeName"):
            tally = tally.plus(bound=1)
            seen = seen.with_pod(pod, node)
        else:
            tally = tally.plus(unschedulable=1)
            _delete(client, f"{_pods(body)}/{pod.name}")
        if preempts:  # victims are on their way out, and no kubelet will end them: a new world is simpler
            return tally.plus(preempting=1)
    return tally


def _difference(pod: Pod, seen: Scene, placement: Placement, decided: Json) -> tuple[str, str, bool]:
    """What the scheduler said, when the model says otherwise; and whether the pod evicts others."""
    node = decided["spec"].get("nodeName", "")
    if node or placement.nodes_that_fit:
        wrong = node not in placement.nodes_that_fit
        return (
            (f"bound to {node}" if node else refusal(decided)) if wrong else "",
            repr(placement.nodes_that_fit),
            False,
        )
    said, expected = refusal(decided), explanations(pod, seen)
    if may_preempt(pod) and preempt(pod, seen, placement).found:
        return "" if said in expected else said, " | ".join(expected), True
    if said not in expected:
        return said, " | ".join(expected), "preempting" in said
    parsed = parse_failed_scheduling(said)
    counts = {reason.text: reason.count for reason in parsed.reasons} if parsed else {}
    wanted = {} if placement.rejected else dict(placement.counts)
    return ("" if counts == wanted else f"parsed as {counts}"), repr(wanted), False


# --- the API


def _pods(body: Json) -> str:
    return f"/api/v1/namespaces/{body['metadata']['namespace']}/pods"


def _place(client: Client, pod: Json, world: World) -> None:
    if client.request("POST", _pods(pod), pod)[0] != 201:
        return  # generated pods may be refused by validation; then they are simply not there
    path, name = f"{_pods(pod)}/{pod['metadata']['name']}", pod["metadata"]["name"]
    if patch := world.statuses.get(name):
        _must(client.request("PATCH", f"{path}/status", {"status": patch}, "application/merge-patch+json"))
    if name in world.terminating:
        _must(client.request("DELETE", path, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 600}))


def _create(client: Client, path: str, body: Json) -> None:
    _must(client.request("POST", path, {"apiVersion": "v1"} | body))


def _must(answer: tuple[int, bytes]) -> None:
    if answer[0] not in (200, 201, 202):
        raise RuntimeError(f"{answer[0]}: {answer[1].decode(errors='replace')}")


def _delete(client: Client, path: str) -> None:
    client.request("DELETE", path, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})


def _empty(client: Client, path: str) -> None:
    until = time.monotonic() + 30
    while items := json.loads(client.request("GET", path)[1])["items"]:
        if time.monotonic() > until:
            raise TimeoutError(f"{path} does not become empty: {[i['metadata']['name'] for i in items]}")
        for item in items:
            _strip_finalizers(client, path, item)
            _delete(client, f"{path}/{item['metadata']['name']}")


def _strip_finalizers(client: Client, path: str, item: Json) -> None:
    """Claims and volumes carry a protection that only a controller takes off, and none runs."""
    if item["metadata"].get("finalizers"):
        patch = {"metadata": {"finalizers": None}}
        client.request("PATCH", f"{path}/{item['metadata']['name']}", patch, "application/merge-patch+json")


class _Items(msgspec.Struct, Generic[_T]):
    items: list[_T]


def _list(client: Client, path: str, kind: type[_T]) -> list[_T]:
    status, body = client.request("GET", path)
    _must((status, body))
    return msgspec.json.decode(body, type=_Items[kind]).items  # type: ignore[valid-type]
