"""`capacity`, `fit` and `what-if` on a live cluster: volumes and budgets are read, and what may not be is said."""

import asyncio
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.kube.fake_server import Answer, Request, fake_server, status

ROOM = {"pods": "110", "cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "2"}
ZONE = "topology.kubernetes.io/zone"
POD = """
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
"""
LABELS = {"nvidia.com/gpu.product": "A100"}
Objects = dict[str, list[dict[str, Any]]]


def node(name: str, zone: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {ZONE: zone}}, "status": {"capacity": ROOM, "allocatable": ROOM}}


def bound(name: str, on: str, **metadata: Any) -> dict[str, Any]:
    owner = {"kind": "ReplicaSet", "name": "r", "controller": True}
    container = {"name": "c", "resources": {"requests": {"nvidia.com/gpu": "1"}}}
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    metadata = {"name": name, "namespace": "default", "ownerReferences": [owner], **metadata}
    return {"metadata": metadata, "spec": {"nodeName": on, "containers": [container]}, "status": ready}


CLUSTER: Objects = {
    "nodes": [node("a", "z1"), node("b", "z2")],
    "pods": [bound("held", "b", labels={"app": "x"})],
    "namespaces": [{"metadata": {"name": "default"}}],
    "gpunodestates": [],
    "persistentvolumeclaims": [
        {
            "metadata": {"name": "data", "namespace": "default"},
            "spec": {"volumeName": "pv", "storageClassName": "fast"},
            "status": {"phase": "Bound"},
        }
    ],
    "persistentvolumes": [{"metadata": {"name": "pv", "labels": {ZONE: "z2"}}}],
    "storageclasses": [],
    "poddisruptionbudgets": [
        {
            "metadata": {"name": "keep", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "x"}}},
            "status": {"disruptionsAllowed": 0},
        }
    ],
}


EXPORTER = {
    "metadata": {"name": "dcgm", "namespace": "gpu-operator", "labels": {"app": "nvidia-dcgm-exporter"}},
    "spec": {"nodeName": "b", "containers": [{"name": "c", "ports": [{"containerPort": 9400}]}]},
    "status": {"phase": "Running"},
}
METRICS = 'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",namespace="default",pod="held"} 0\n'
METRICS += 'DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-1",namespace="default",pod="held"} 14029\n'
PROXY = "/api/v1/namespaces/gpu-operator/pods/dcgm:9400/proxy/metrics"


def serving(objects: Objects, refused: str = "") -> Callable[[Request], Answer]:
    def answer(request: Request) -> Answer:
        plural = request.path.rpartition("/")[2]
        if request.path == PROXY and refused != "proxy":
            return Answer(METRICS.encode())
        if request.path == PROXY:
            return status(403, "Forbidden", 'User "u" cannot get resource "pods/proxy"')
        if plural == refused:
            return status(403, "Forbidden", f'User "u" cannot list resource "{plural}"')
        return Answer({"items": objects[plural]}) if plural in objects else Answer("404 page not found", 404)

    return answer


def write_kubeconfig(folder: Path, url: str) -> None:
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {}}],
    }
    (folder / "kubeconfig").write_text(yaml.safe_dump(config))


async def _ask(folder: Path, handler: Callable[[Request], Answer], arguments: tuple[str, ...]) -> tuple[int, str, str]:
    async with fake_server(handler) as server:
        write_kubeconfig(folder, server.url)
        command = ["-m", "lockgate.cli.main", *arguments, "--kubeconfig", str(folder / "kubeconfig")]
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await asyncio.wait_for(process.communicate(), 60)
        assert {request.method for request in server.requests} <= {"GET"}
        return process.returncode or 0, out.decode(), err.decode()


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., tuple[int, str, str]]:
    (tmp_path / "pod.yaml").write_text(POD)

    def run(*arguments: str, refused: str = "", objects: Objects = CLUSTER) -> tuple[int, str, str]:
        return asyncio.run(_ask(tmp_path, serving(objects, refused), arguments))

    return run


def test_a_pod_goes_where_its_volume_is(ask: Any, tmp_path: Path) -> None:
    code, out, _ = ask("fit", "-f", str(tmp_path / "pod.yaml"), "-o", "json")
    assert (code, json.loads(out)["where"]) == (0, {"b": 1})


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        ("persistentvolumes", "from which nodes pv can be reached, since PersistentVolumes were not read"),
        ("persistentvolumeclaims", "claims data were not read"),
    ],
)
def test_volumes_that_may_not_be_read_are_said_and_exit_4(ask: Any, tmp_path: Path, refused: str, words: str) -> None:
    code, out, _ = ask("fit", "-f", str(tmp_path / "pod.yaml"), refused=refused)
    assert code == 4
    assert words in " ".join(out.split())


SANDBOXED = """
apiVersion: v1
kind: Pod
metadata: {name: boxed}
spec:
  runtimeClassName: kata
  containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]
"""
KATA = {
    "metadata": {"name": "kata"},
    "handler": "kata",
    "overhead": {"podFixed": {"cpu": "250m"}},
    "scheduling": {"nodeSelector": {ZONE: "z2"}},
}


@pytest.mark.parametrize(
    ("served", "refused", "ends", "words"),
    [
        ([KATA], "", 0, "Where: b RuntimeClass kata adds overhead cpu=250m; nodeSelector"),
        ([], "", 3, 'pod rejected: RuntimeClass "kata" not found; there is none'),
        ([KATA], "runtimeclasses", 4, "RuntimeClass kata: its overhead, nodeSelector and tolerations, since"),
    ],
)
def test_the_runtime_class_is_read_and_applied(
    ask: Any, tmp_path: Path, served: list[dict[str, Any]], refused: str, ends: int, words: str
) -> None:
    (tmp_path / "boxed.yaml").write_text(SANDBOXED)
    objects = CLUSTER | {"runtimeclasses": served}
    code, out, _ = ask("fit", "-f", str(tmp_path / "boxed.yaml"), refused=refused, objects=objects)
    assert code == ends
    assert words in " ".join(out.split())


BARE = {
    "metadata": {"name": "dra", "labels": {"nvidia.com/gpu.present": "true"}},
    "status": {"allocatable": {"cpu": "64", "memory": "512Gi", "pods": "110"}},
}
CLASSES = {"deviceclasses": [{"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "nvidia.com/gpu"}}]}


@pytest.mark.parametrize(
    ("refused", "ends", "words"),
    [
        ("deviceclasses", 4, "RBAC: list on deviceclasses.resource.k8s.io"),
        ("resourceslices", 4, "RBAC: list on resourceslices.resource.k8s.io"),
        ("", 3, "DOES NOT FIT"),
    ],
)
def test_what_tells_of_claims_and_may_not_be_read_is_said_with_the_right_that_lacks(
    ask: Any, refused: str, ends: int, words: str
) -> None:
    objects = CLUSTER | CLASSES | {"nodes": [BARE], "resourceslices": [], "resourceclaims": []}
    code, out, _ = ask("fit", "--gpus", "1", refused=refused, objects=objects)
    assert (code, "UNKNOWN" in out) == (ends, ends == 4)
    assert words in " ".join(out.split())


def test_what_if_says_that_it_is_not_known_whether_claims_serve_a_pod_elsewhere(ask: Any) -> None:
    room = {**ROOM, "nvidia.com/gpu": "1"}
    full = {"metadata": {"name": "a", "labels": BARE["metadata"]["labels"]}}
    full["status"] = {"capacity": room, "allocatable": room}
    objects = CLUSTER | {"nodes": [full, BARE], "pods": [bound("held", "a")], "poddisruptionbudgets": []}
    code, out, _ = ask("what-if", "--drain", "a", refused="deviceclasses", objects=objects)
    assert code == 4
    assert "Would move or wait, which is not known (1)" in out
    assert "RBAC: list on deviceclasses.resource.k8s.io" in " ".join(out.split())
    code, out, _ = ask("what-if", "--drain", "a", objects=objects)
    assert (code, "Would wait: no node takes them (1)" in out) == (3, True)


def test_capacity_without_the_right_to_list_pods_shows_the_nodes(ask: Any) -> None:
    code, out, _ = ask("capacity", refused="pods")
    assert code == 0
    assert "RBAC: list on pods in the whole cluster" in " ".join(out.split())
    assert " ? " in out


def test_capacity_counts_live(ask: Any) -> None:
    code, out, _ = ask("capacity", "-o", "json")
    assert (code, json.loads(out)["total"][0]["headroom"]) == (0, 3)


def test_idle_devices_are_asked_for_only_when_wanted(ask: Any) -> None:
    with_exporter = CLUSTER | {"pods": [*CLUSTER["pods"], EXPORTER]}
    _, out, _ = ask("capacity", objects=with_exporter)
    assert "requested but idle: utilisation was not asked for (to read it: kubectl gpu capacity --metrics)" in out
    _, out, _ = ask("capacity", "--metrics", objects=with_exporter)
    assert "  b GPU-1: default/held, 14029 MiB of its memory in use\n" in out
    _, out, _ = ask("capacity", "--metrics", "-o", "json", objects=with_exporter)
    assert [(row["key"], row["idle"]) for row in json.loads(out)["rows"]] == [("a", 0), ("b", 1)]


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        (CLUSTER, "no pod of a dcgm-exporter runs (to read it: enable it in the ClusterPolicy"),
        (CLUSTER | {"pods": [*CLUSTER["pods"], EXPORTER]}, "RBAC: get on pods/proxy in namespace gpu-operator"),
    ],
    ids=["no exporter", "no right"],
)
def test_exporters_that_cannot_be_asked_are_said(ask: Any, objects: Objects, words: str) -> None:
    code, out, _ = ask("capacity", "--metrics", objects=objects, refused="proxy")
    assert code == 0
    assert words in out


def test_a_drain_respects_the_budgets_of_the_cluster(ask: Any) -> None:
    code, out, _ = ask("what-if", "--drain", "b")
    assert code == 3
    assert "Would stay: may not be evicted (1)" in out
    assert "  default/held  b: PodDisruptionBudget keep allows no disruption now" in out


def test_budgets_that_may_not_be_read_are_said(ask: Any) -> None:
    code, out, _ = ask("what-if", "--drain", "b", refused="poddisruptionbudgets")
    assert (code, "default/held  b -> a" in out) == (0, True)
    assert "pod disruption budgets, which were not read" in " ".join(out.split())


@pytest.mark.parametrize(
    ("action", "headroom"),
    [
        (("--cordon", "a"), 1),
        (("--cordon", "a", "--uncordon", "a"), 3),
        (("--replicas", "a=4"), 9),
        (("--lose-gpu", "a:1"), 2),
        (("--add-node", "A100"), 5),
    ],
)
def test_every_action_is_thought_through_and_nothing_is_written(ask: Any, action: Any, headroom: int) -> None:
    nodes = [one | {"metadata": one["metadata"] | {"labels": LABELS}} for one in CLUSTER["nodes"]]
    code, out, _ = ask("what-if", *action, "-o", "json", objects=CLUSTER | {"nodes": nodes})
    assert (code, json.loads(out)["after"][0]["headroom"]) == (0, headroom)


def test_watching_shows_the_table_again_until_it_is_interrupted(tmp_path: Path) -> None:
    async def main() -> None:
        objects = dict(CLUSTER)
        async with fake_server(serving(objects)) as server:
            write_kubeconfig(tmp_path, server.url)
            command = (
                "-m",
                "lockgate.cli.main",
                "capacity",
                "--watch",
                "0.5",
                "--kubeconfig",
                f"{tmp_path}/kubeconfig",
            )
            process = await asyncio.create_subprocess_exec(
                sys.executable, *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
            )
            assert process.stdout is not None and process.stderr is not None
            totals = []
            async with asyncio.timeout(30):
                while len(set(totals)) < 2:
                    line = (await process.stdout.readline()).decode()
                    if line.startswith("total"):
                        totals.append(line.split()[5])
                        objects["pods"] = []  # what it holds goes away between two looks
            process.send_signal(signal.SIGINT)
            assert await asyncio.wait_for(process.wait(), 10) == 130
            assert (totals[0], totals[-1]) == ("3", "4")
            assert b"Traceback" not in await process.stderr.read()

    asyncio.run(main())
