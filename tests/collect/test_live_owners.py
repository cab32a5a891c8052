"""Owners of other kinds and whole namespaces of a live cluster: found by discovery, read with get and list only."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from lockgate.kube.discovery import discover
from tests.collect.test_live import Recorded, ask_of
from tests.kube.fake_server import Answer, FakeServer, Request, fake_api

KINDS = [
    ("kubeflow.org", "v1", "pytorchjobs", "PyTorchJob", ["ptj"]),
    ("ray.io", "v1", "rayjobs", "RayJob", []),
    ("ray.io", "v1", "rayclusters", "RayCluster", []),
]
ONE = {"nvidia.com/gpu": "1"}
POD: dict[str, Any] = {
    "spec": {"containers": [{"name": "main", "resources": {"limits": ONE, "requests": ONE}}]},
    "status": {"phase": "Pending"},
}
NODE: dict[str, Any] = {
    "metadata": {"name": "gpu-a", "labels": {"nvidia.com/gpu.present": "true"}},
    "status": {k: {"nvidia.com/gpu": "1", "pods": "110"} for k in ("capacity", "allocatable")},
}
QUOTA = (
    'pods "x" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=8, '
    "used: requests.nvidia.com/gpu=1, limited: requests.nvidia.com/gpu=1"
)


def owner(api: str, kind: str, name: str) -> dict[str, Any]:
    return {"ownerReferences": [{"apiVersion": api, "kind": kind, "name": name, "controller": True, "uid": name}]}


def named(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "ml", "uid": name, **more}}


def pod(name: str, on: str = "", **more: Any) -> dict[str, Any]:
    made = named(name, **more) | {"spec": POD["spec"] | {"nodeName": on}, "status": POD["status"]}
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return made | ({"status": running} if on else {})


def pytorchjob(**spec: Any) -> dict[str, Any]:
    replicas = {"Worker": {"replicas": 2, "template": {"spec": POD["spec"]}}}
    return named("llm") | {"spec": {"pytorchReplicaSpecs": replicas, **spec}}


class Made(Recorded):
    """A cluster of these objects, with discovery of some custom kinds."""

    def __init__(self, aggregated: bool = True, **objects: list[dict[str, Any]]) -> None:
        core = ("nodes", "pods", "events", "resourcequotas", "replicasets", "statefulsets", "jobs", "deployments")
        empty: dict[str, list[dict[str, Any]]] = {plural: [] for plural in (*core, *(k[2] for k in KINDS))}
        self._refused = lambda plural, namespace, name: False
        self._objects = empty | {"nodes": [NODE]} | objects
        self._logs = {}
        self._aggregated = aggregated

    def __call__(self, request: Request) -> Answer:
        aggregated = self._aggregated and "APIGroupDiscoveryList" in request.headers["accept"]
        if request.path in ("/api", "/apis") and aggregated:
            return Answer({"kind": "APIGroupDiscoveryList", "items": _groups() if request.path == "/apis" else []})
        if request.path in ("/api", "/apis"):
            versions = sorted({f"{group}/{version}" for group, version, *_ in KINDS})
            groups = [{"name": v.partition("/")[0], "preferredVersion": {"groupVersion": v}} for v in versions]
            return Answer({"kind": "APIGroupList", "groups": groups})
        if request.path == "/api/v1" or request.path in {f"/apis/{g}/{v}" for g, v, *_ in KINDS}:
            return Answer({"resources": _resources(request.path.removeprefix("/apis/"))})
        return super().__call__(request)


def _groups() -> list[dict[str, Any]]:
    return [
        {
            "metadata": {"name": group},
            "versions": [
                {
                    "version": version,
                    "resources": [
                        {
                            "resource": plural,
                            "singularResource": kind.lower(),
                            "shortNames": short,
                            "scope": "Namespaced",
                            "responseKind": {"kind": kind},
                        }
                    ],
                }
            ],
        }
        for group, version, plural, kind, short in KINDS
    ]


def _resources(group_version: str) -> list[dict[str, Any]]:
    return [
        {"name": plural, "singularName": kind.lower(), "kind": kind, "namespaced": True, "shortNames": short}
        for group, version, plural, kind, short in KINDS
        if f"{group}/{version}" == group_version
    ] + [{"name": "pods/log", "kind": "Pod", "namespaced": True}]


def ask(folder: Path, cluster: Made, *arguments: str) -> tuple[int, dict[str, Any], str, FakeServer]:
    return asyncio.run(ask_of(folder, cluster, *arguments))


@pytest.mark.parametrize("typed", ["pytorchjob/llm", "PyTorchJobs/llm", "pytorchjobs.kubeflow.org/llm", "ptj/llm"])
@pytest.mark.parametrize("aggregated", [True, False])
def test_a_custom_owner_is_found_however_it_is_called(typed: str, aggregated: bool, tmp_path: Path) -> None:
    pods = [pod("a", on="gpu-a"), pod("llm-worker-0", **owner("kubeflow.org/v1", "PyTorchJob", "llm"))]
    cluster = Made(aggregated, pytorchjobs=[pytorchjob() | {"kind": "PyTorchJob"}], pods=pods)
    code, report, error, server = ask(tmp_path, cluster, typed, "-n", "ml")
    assert (code, error) == (3, "")
    assert [f["id"] for f in report["findings"]][:1] == ["scheduling/all-held"]
    assert report["target"] == {"kind": "PyTorchJob", "name": "llm", "namespace": "ml"}
    assert {r.method for r in server.requests} == {"GET"}


def test_one_that_has_no_pod_is_told_by_its_events_and_its_template(tmp_path: Path) -> None:
    about = {"kind": "PyTorchJob", "namespace": "ml", "name": "llm"}
    event = named("e") | {"type": "Warning", "reason": "FailedCreatePod", "message": QUOTA, "involvedObject": about}
    cluster = Made(pytorchjobs=[pytorchjob() | {"kind": "PyTorchJob"}], events=[event])
    code, report, _, _ = ask(tmp_path, cluster, "pytorchjob/llm", "-n", "ml")
    assert (code, [f["id"] for f in report["findings"]][:1]) == (3, ["admission/quota"])


def test_an_owner_between_is_read_too(tmp_path: Path) -> None:
    between = named("tune-x", **owner("ray.io/v1", "RayJob", "tune")) | {"kind": "RayCluster", "spec": {}}
    pods = [pod("a", on="gpu-a"), pod("tune-x-w", **owner("ray.io/v1", "RayCluster", "tune-x"))]
    cluster = Made(rayjobs=[named("tune") | {"kind": "RayJob"}], rayclusters=[between], pods=pods)
    code, report, _, _ = ask(tmp_path, cluster, "rayjob/tune", "-n", "ml")
    assert (code, [f["affects"] for f in report["findings"]][:1]) == (3, [["tune-x-w"]])


def test_a_kind_or_name_that_is_not_there_says_what_is(tmp_path: Path) -> None:
    cluster = Made(pytorchjobs=[pytorchjob() | {"kind": "PyTorchJob"}])
    code, _, error, _ = ask(tmp_path, cluster, "mpijob/llm", "-n", "ml")
    assert (code, 'the cluster knows no kind "mpijob"; did you mean "job"?' in error) == (2, True), error
    code, _, error, _ = ask(tmp_path, cluster, "pytorchjob/lm", "-n", "ml")
    assert (code, "did you mean llm?" in error) == (2, True), error


def test_a_namespace_costs_a_handful_of_lists_and_no_other_namespace_is_told(tmp_path: Path) -> None:
    elsewhere = pod("other")
    elsewhere["metadata"]["namespace"] = "other"
    cluster = Made(pods=[pod("a", on="gpu-a"), pod("late"), elsewhere], namespaces=[{"metadata": {"name": "ml"}}])
    code, report, error, server = ask(tmp_path, cluster, "namespace/ml")
    assert (code, error) == (3, "")
    assert [(f["id"], f["affects"]) for f in report["findings"]] == [("scheduling/all-held", ["ml/late"])]
    assert len(server.requests) <= 20
    assert "/api/v1/namespaces/ml/events" in [r.path for r in server.requests]


def test_pods_with_a_label_are_those_of_one_namespace_or_of_all(tmp_path: Path) -> None:
    here, there = pod("late", labels={"app": "train"}), pod("other", labels={"app": "train"})
    there["metadata"]["namespace"] = "b"
    pods = [pod("a", on="gpu-a"), here, there]
    _, report, error, _ = ask(tmp_path, Made(pods=pods), "-l", "app=train", "-n", "ml")
    assert (error, report["findings"][0]["affects"]) == ("", ["ml/late"])
    _, report, _, _ = ask(tmp_path, Made(pods=pods), "-l", "app in (train)", "-A")
    assert sorted(report["findings"][0]["affects"]) == ["b/other", "ml/late"]
    code, _, error, _ = ask(tmp_path, Made(pods=pods), "-l", "app>3")
    assert (code, "is no label selector" in error) == (2, True)


def test_a_version_is_found_by_the_reference_that_names_it() -> None:
    async def find() -> tuple[str, str]:
        async with fake_api(Made()) as (_, api, _):
            kinds = await discover(api)
            here, gone = kinds.find("rayjob", "ray.io/v1"), kinds.find("rayjob", "ray.io/v9")
            return (here.plural if here else ""), (gone.plural if gone else "")

    assert asyncio.run(find()) == ("rayjobs", "")


def test_what_may_not_be_read_between_is_left_out(tmp_path: Path) -> None:
    pods = [pod("tune-x-w", **owner("ray.io/v1", "RayCluster", "tune-x"))]
    cluster = Made(rayjobs=[named("tune") | {"kind": "RayJob"}], pods=pods)
    cluster._refused = lambda plural, namespace, name: plural == "rayclusters"
    code, report, error, _ = ask(tmp_path, cluster, "rayjob/tune", "-n", "ml")
    assert (code, report["findings"], error) == (4, [], "")
