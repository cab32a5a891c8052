"""`lint deploy/x` and `lint FILE --against-cluster`: judged against the nodes and classes of a live cluster."""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.kube.fake_server import FakeServer, fake_server, status
from tests.kube.small_cluster import SmallCluster

GPU = "nvidia.com/gpu"
LABELS = {"nvidia.com/cuda.runtime-version.major": "12", "nvidia.com/cuda.runtime-version.minor": "4"}
Make = Callable[[], SmallCluster]
STATES = "/apis/lockgate.dev/v1alpha1/gpunodestates"


def spec(**more: Any) -> dict[str, Any]:
    container = {"name": "a", "image": "nvidia/cuda:12.4.1-base", "resources": {"limits": {GPU: "1"}}}
    return {"containers": [container], **more}


def cluster(**deployment: Any) -> SmallCluster:
    """One GPU node, the class `nvidia`, and Deployment infer in namespace ml."""
    made = SmallCluster()
    node = {"metadata": {"labels": LABELS}, "status": {"capacity": {GPU: "2"}}}
    made.put("/api/v1/nodes/gpu-1", {**node, "spec": {"taints": [{"key": "team", "effect": "NoSchedule"}]}})
    made.put("/api/v1/nodes/cpu", {"status": {"capacity": {"cpu": "4"}}})
    made.put("/apis/node.k8s.io/v1/runtimeclasses/nvidia", {"handler": "nvidia"})
    template = {"spec": spec(tolerations=[{"key": "team", "operator": "Exists"}], **deployment)}
    made.put("/apis/apps/v1/namespaces/ml/deployments/infer", {"spec": {"template": template}})
    return made


async def _ask(make: Make, folder: Path, *arguments: str) -> tuple[int, str, str, FakeServer]:
    async with fake_server(make().handle) as server:
        config = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "ml"}}],
            "clusters": [{"name": "c", "cluster": {"server": server.url}}],
            "users": [{"name": "u", "user": {}}],
        }
        (folder / "kubeconfig").write_text(yaml.safe_dump(config))
        command = ["-m", "lockgate.cli.main", "lint", *arguments, "--kubeconfig", str(folder / "kubeconfig")]
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await asyncio.wait_for(process.communicate(), 60)
        return process.returncode or 0, out.decode(), err.decode(), server


def ask(make: Make, folder: Path, *arguments: str) -> tuple[int, str, str, FakeServer]:
    """`make` is called in the event loop of the server."""
    return asyncio.run(_ask(make, folder, *arguments))


def ids(out: str) -> list[str]:
    return [finding["id"] for finding in json.loads(out)["findings"]]


def test_a_workload_that_fits_is_silent_and_nothing_is_written(tmp_path: Path) -> None:
    code, out, err, server = ask(lambda: cluster(runtimeClassName="nvidia"), tmp_path, "deploy/infer")
    assert (code, err) == (0, ""), out
    assert {request.method for request in server.requests} == {"GET"}
    assert len(server.requests) == 4


def labelled() -> SmallCluster:
    """Two workloads of a team in two namespaces, with a pod that one of them made; and one of nobody."""
    made = cluster(runtimeClassName="nvidia")
    labels = {"labels": {"team": "ml"}}
    bad = {"spec": spec(tolerations=[], runtimeClassName="nvidia")}
    made.put("/apis/apps/v1/namespaces/ml/deployments/a", {"metadata": labels, "spec": {"template": bad}})
    made.put("/apis/batch/v1/namespaces/web/jobs/b", {"metadata": labels, "spec": {"template": bad}})
    owner = {"kind": "Job", "name": "b", "uid": "1", "controller": True}
    made.put("/api/v1/namespaces/web/pods/b-x", {"metadata": {**labels, "ownerReferences": [owner]}, **bad})
    return made


@pytest.mark.parametrize(
    ("flags", "files"),
    [
        (("-l", "team=ml"), ["deployment/a -n ml"]),
        (("-l", "team=ml", "-n", "web"), ["job/b -n web"]),
        (("-l", "team=ml", "-A"), ["deployment/a -n ml", "job/b -n web"]),
    ],
)
def test_labels_choose_workloads_that_nothing_else_made(
    tmp_path: Path, flags: tuple[str, ...], files: list[str]
) -> None:
    code, out, _, server = ask(labelled, tmp_path, *flags, "-o", "json")
    found = json.loads(out)["findings"]
    assert code in (3, 4), out
    assert {each["id"] for each in found} == {"manifest/toleration-missing"}
    assert sorted(each["lines"][0]["file"] for each in found) == files
    assert {request.method for request in server.requests} == {"GET"}


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("-l", "team=no"), 'no workload has labels "team=no" in this namespace (-A: in all)'),
        (("-l", "team=no", "-A"), 'no workload has labels "team=no" in any namespace'),
        (("-l", "=="), '"==" is no label selector'),
        (("deploy/infer", "-l", "team=ml"), '"deploy/infer" and -l: give one of them'),
    ],
)
def test_labels_of_no_workload_are_said(tmp_path: Path, flags: tuple[str, ...], says: str) -> None:
    code, out, err, _ = ask(labelled, tmp_path, *flags)
    assert (code, out, f"lint: {says}" in err) == (2, "", True), err


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"tolerations": []}, "manifest/toleration-missing"),
        ({"runtimeClassName": "gvisor"}, "manifest/runtime-class-missing"),
        (
            {"containers": [{"name": "a", "image": "nvidia/cuda:13.0.1-base", "resources": {"limits": {GPU: "1"}}}]},
            "manifest/cuda-newer-than-driver",
        ),
    ],
)
def test_what_only_the_cluster_shows_is_found(tmp_path: Path, more: dict[str, Any], expected: str) -> None:
    def made() -> SmallCluster:
        found = cluster()
        path = "/apis/apps/v1/namespaces/ml/deployments/infer"
        template = {"spec": {**found.objects[path]["spec"]["template"]["spec"], **more}}
        found.put(path, {"spec": {"template": template}})
        return found

    code, out, _, _ = ask(made, tmp_path, "deployment/infer", "-n", "ml", "-o", "json")
    assert code in (3, 4)
    assert ids(out) == [expected]
    lines = json.loads(out)["findings"][0]["lines"]
    assert lines[0]["file"] == "deployment/infer -n ml" and lines[0]["text"]


@pytest.mark.parametrize(
    ("cdi", "kind", "handler", "expected"),
    [
        (False, "", "runc", ["manifest/runtime-class-needed"]),
        (True, "k8s.device-plugin.nvidia.com/gpu", "runc", []),
        (False, "", "nvidia", []),
        (True, "", "runc", ["manifest/runtime-class-needed"]),  # CDI is on, and the plugin hands out no names
    ],
)
def test_whether_a_class_is_needed_is_asked_of_what_the_agents_publish(
    tmp_path: Path, cdi: bool, kind: str, handler: str, expected: list[str]
) -> None:
    def made() -> SmallCluster:
        found = cluster()
        runtime = {"defaultHandler": handler, "cdiEnabled": cdi}
        devices = {"strategies": ["x"], "cdiKind": kind}
        found.put(f"{STATES}/gpu-1", {"status": {"runtime": runtime, "devices": devices}})
        return found

    _, out, _, _ = ask(made, tmp_path, "deploy/infer", "-o", "json")
    assert ids(out) == expected


def test_a_running_pod_has_its_node_from_the_scheduler(tmp_path: Path) -> None:
    def made() -> SmallCluster:
        found, bound = cluster(), spec(nodeName="gpu-1", tolerations=[{"operator": "Exists"}])
        found.put("/api/v1/namespaces/ml/pods/x", {"spec": bound, "status": {"phase": "Running"}})
        return found

    assert ask(made, tmp_path, "pod/x")[0] == 0


def test_a_file_is_judged_against_the_cluster_when_that_is_asked(tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec()}))
    assert ask(cluster, tmp_path, str(file))[0] == 0
    code, out, _, _ = ask(cluster, tmp_path, str(file), "--against-cluster", "-o", "json")
    assert (code, ids(out)) == (4, ["manifest/toleration-missing"])


def test_what_may_not_be_read_is_not_held_against_a_workload(tmp_path: Path) -> None:
    def made() -> SmallCluster:
        found = cluster(runtimeClassName="gvisor")
        for path in ("/api/v1/nodes", "/apis/node.k8s.io/v1/runtimeclasses", STATES):
            found.refuse[f"GET {path}"] = status(403, "Forbidden", "may not")
        return found

    assert ask(made, tmp_path, "deploy/infer")[0] == 0


def test_a_workload_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    code, out, err, _ = ask(cluster, tmp_path, "deploy/nobody")
    assert (code, out) == (1, "")
    assert "nobody" in err and err.count("\n") == 1


def test_fix_is_refused_for_a_workload_of_the_cluster(tmp_path: Path) -> None:
    code, _, err, _ = ask(cluster, tmp_path, "deploy/infer", "--fix")
    assert code == 2
    assert "--fix writes files of this machine, not of deployment/infer" in err
