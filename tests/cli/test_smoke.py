"""`smoke` against a server whose nodes answer as kubelets would: what it makes, what it says, that nothing stays."""

import asyncio
import json
import os
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.test_collect import config
from tests.kube.fake_server import Answer, Request, fake_server, status
from tests.kube.small_cluster import SmallCluster

ONE = {"nvidia.com/gpu": "1"}
IMAGE = "registry.example/lockgate:9"
LIST = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n"
NO_HANDLER = 'Failed to create pod sandbox: no runtime for "nvidia" is configured'


def node(name: str, gpus: int = 1, ready: str = "True", **spec: Any) -> dict[str, Any]:
    numbers = {"nvidia.com/gpu": str(gpus), "pods": "110", "cpu": "8", "memory": "64Gi"}
    conditions = [{"type": "Ready", "status": ready}]
    return {
        "metadata": {"name": name, "labels": {"nvidia.com/gpu.present": "true"}},
        "spec": spec,
        "status": {"capacity": numbers, "allocatable": numbers, "conditions": conditions},
    }


def operand() -> dict[str, Any]:
    spec = {"containers": [{"name": "main", "image": IMAGE}], "imagePullSecrets": [{"name": "pull"}]}
    labels = {"app": "nvidia-operator-validator"}
    return {"metadata": {"labels": labels}, "spec": {"selector": {"matchLabels": labels}, "template": {"spec": spec}}}


class Estate:
    """A small cluster whose kubelets let pods succeed, but on nodes that are told to do otherwise."""

    def __init__(self, *nodes: dict[str, Any], **behaviour: str) -> None:
        self.behaviour, self.cluster = behaviour, SmallCluster()
        self.made: list[dict[str, Any]] = []
        self._nodes = nodes

    def begin(self) -> None:
        self.cluster.put("/apis/apps/v1/namespaces/gpu-operator/daemonsets/nvidia-operator-validator", operand())
        for each in self._nodes:
            self.cluster.put(f"/api/v1/nodes/{each['metadata']['name']}", each)

    def __call__(self, request: Request) -> Answer:
        if request.path.endswith("/log"):
            return Answer(LIST.encode())
        name = request.query.get("fieldSelector", "").partition("metadata.name=")[2]
        if name and not request.query.get("watch"):
            found = self.cluster.objects.get(f"{request.path}/{name}")
            return Answer(
                {"metadata": {"resourceVersion": str(self.cluster.version)}, "items": [found] if found else []}
            )
        if request.query.get("fieldSelector", "").startswith("involvedObject.name=") and not request.query.get("watch"):
            about = request.query["fieldSelector"].partition("=")[2]
            events = [o for p, o in self.cluster.objects.items() if "/events/" in p]
            here = [e for e in events if e["involvedObject"]["name"] == about]
            return Answer({"metadata": {"resourceVersion": str(self.cluster.version)}, "items": here})
        answer = self.cluster.handle(request)
        if request.method == "POST" and request.path.endswith("/pods") and answer.status == 201:
            asyncio.get_running_loop().create_task(self._run(json.loads(request.body)))
        return answer

    async def _run(self, manifest: dict[str, Any]) -> None:
        self.made.append(manifest)
        metadata, spec = manifest["metadata"], manifest["spec"]
        terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        on = terms[0]["matchFields"][0]["values"][0]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        placed = {**spec, "nodeName": on}
        await asyncio.sleep(0.1)
        match self.behaviour.get(on.replace("-", "_"), "succeed"):
            case "succeed":
                ended = {"name": "smoke", "state": {"terminated": {"exitCode": 0}}}
                state: dict[str, Any] = {"phase": "Succeeded", "containerStatuses": [ended]}
            case "no handler":
                about = {"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"]}
                event = {"type": "Warning", "reason": "FailedCreatePodSandBox", "message": NO_HANDLER}
                events = f"/api/v1/namespaces/{metadata['namespace']}/events/{on}"
                self.cluster.put(events, event | {"involvedObject": about})
                state = {"phase": "Pending"}
            case _:
                placed, state = spec, {"phase": "Pending"}
        if path in self.cluster.objects:
            self.cluster.put(path, {"metadata": metadata, "spec": placed, "status": state})

    @property
    def left(self) -> list[str]:
        return [path for path in self.cluster.objects if "lockgate-smoke" in path]


@asynccontextmanager
async def smoking(folder: Path, estate: Estate, *arguments: str) -> Any:
    async with fake_server(estate) as server:
        estate.begin()
        command = ["-m", "lockgate.cli.main", "smoke", "--kubeconfig", str(config(folder, server.url)), *arguments]
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def smoke(folder: Path, estate: Estate, *arguments: str) -> tuple[int, str, str]:
    async def ran() -> tuple[int, str, str]:
        async with smoking(folder, estate, *arguments) as process:
            out, err = await asyncio.wait_for(process.communicate(), 60)
            return process.returncode, out.decode(), err.decode()

    return asyncio.run(ran())


def test_each_gpu_node_is_tried_and_nothing_stays(tmp_path: Path) -> None:
    estate = Estate(node("gpu-a"), node("gpu-b"))
    code, out, err = smoke(tmp_path, estate)
    assert (code, estate.left) == (0, []), err
    assert out.count("passed   gpu-") == 2
    assert "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)" in out
    assert "makes 2 pods in namespace gpu-operator (lockgate-smoke-" in err
    assert IMAGE in err
    (one, _) = estate.made
    assert one["spec"]["imagePullSecrets"] == [{"name": "pull"}]
    assert one["spec"]["containers"][0]["resources"] == {"limits": ONE}
    assert "privileged" not in json.dumps(one)


def test_the_gate_that_fails_is_named_with_its_cause(tmp_path: Path) -> None:
    estate = Estate(node("gpu-a"), node("gpu-b"), gpu_b="no handler")
    code, out, _ = smoke(tmp_path, estate, "-o", "json")
    results = {r["node"]: r for r in json.loads(out)["nodes"]}
    assert (code, estate.left) == (3, [])
    assert results["gpu-a"]["result"] == "passed"
    assert (results["gpu-b"]["result"], results["gpu-b"]["gate"]) == ("failed", "gate 2")
    # The pod names no RuntimeClass, so it is the node's default handler that is gone.
    assert results["gpu-b"]["diagnosis"]["findings"][0]["id"] == "nodes/default-handler-gone"


def test_a_pod_that_nothing_explains_fails_when_its_time_is_over(tmp_path: Path) -> None:
    estate = Estate(node("gpu-a"), gpu_a="nothing happens")
    code, out, _ = smoke(tmp_path, estate, "--timeout", "2s")
    assert (code, estate.left) == (3, [])
    assert "failed   gpu-a  gate 1: it did not run within 2 s, and no cause is seen" in out


def _full() -> Estate:
    """gpu-a is held, gpu-b not ready, gpu-c cordoned."""
    estate = Estate(node("gpu-a"), node("gpu-b", ready="False"), node("gpu-c", unschedulable=True))
    begin = estate.begin

    def with_holder() -> None:
        begin()
        resources = {"limits": ONE, "requests": ONE}
        spec = {"nodeName": "gpu-a", "containers": [{"name": "m", "resources": resources}]}
        estate.cluster.put("/api/v1/namespaces/ml/pods/holder", {"spec": spec, "status": {"phase": "Running"}})

    estate.begin = with_holder  # type: ignore[method-assign]
    return estate


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_a_full_node_is_left_alone_with_who_holds_it(dry: tuple[str, ...], tmp_path: Path) -> None:
    estate = _full()
    code, out, _ = smoke(tmp_path, estate, *dry)
    assert (code, estate.made) == (4, [])
    assert "skipped  gpu-a  no nvidia.com/gpu is free; held by ml/holder (1)" in out
    assert "skipped  gpu-b  the node is not ready" in out
    assert "skipped  gpu-c  the node is cordoned" in out


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_removes_what_was_made(ending: signal.Signals, tmp_path: Path) -> None:
    estate = Estate(node("gpu-a"), node("gpu-b"), gpu_a="nothing happens", gpu_b="nothing happens")

    async def story() -> tuple[int, str]:
        async with smoking(tmp_path, estate) as process:
            async with asyncio.timeout(30):
                while len(estate.left) < 2:
                    await asyncio.sleep(0.05)
            os.kill(process.pid, ending)
            _, err = await asyncio.wait_for(process.communicate(), 30)
            return process.returncode, err.decode()

    code, err = asyncio.run(story())
    assert (code, estate.left) == (130, [])
    assert "Traceback" not in err


def test_an_interrupt_in_the_middle_of_the_creation_leaves_nothing_either(tmp_path: Path) -> None:
    estate = Estate(node("gpu-a"), gpu_a="nothing happens")
    answered = estate.__call__
    held: list[asyncio.Event] = []

    async def late(body: bytes) -> Any:
        held.append(asyncio.Event())
        await held[0].wait()
        yield body

    def handler(request: Request) -> Answer:
        answer = answered(request)
        if request.method == "POST":
            return Answer(stream=late(json.dumps(answer.body).encode()))
        return answer

    async def story() -> int:
        async with fake_server(handler) as server:
            estate.begin()
            command = ["-m", "lockgate.cli.main", "smoke", "--kubeconfig", str(config(tmp_path, server.url))]
            process = await asyncio.create_subprocess_exec(
                sys.executable, *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
            )
            async with asyncio.timeout(30):
                while not held:
                    await asyncio.sleep(0.05)
            os.kill(process.pid, signal.SIGINT)
            await asyncio.sleep(0.5)
            held[0].set()
            await asyncio.wait_for(process.communicate(), 30)
            return process.returncode or 0

    assert (asyncio.run(story()), estate.left) == (130, [])


def test_what_may_not_be_made_is_said_in_one_line(tmp_path: Path) -> None:
    estate = Estate(node("gpu-a"))
    estate.cluster.refuse["POST /api/v1/namespaces/gpu-operator/pods"] = status(403, "Forbidden", "no pods for you")
    code, out, err = smoke(tmp_path, estate)
    assert (code, out) == (1, "")
    assert "no pods for you" in err
    assert "Traceback" not in err


def test_what_may_not_be_read_is_not_said_to_be_absent(tmp_path: Path) -> None:
    estate = Estate(node("gpu-a"))
    estate.cluster.refuse["GET /apis/apps/v1/daemonsets"] = status(403, "Forbidden", "no sets for you")
    code, out, err = smoke(tmp_path, estate)
    assert (code, out) == (1, "")
    assert "DaemonSets are not known" in err and "RBAC: list on daemonsets.apps" in err and "--image IMAGE" in err
    estate.cluster.refuse["GET /api/v1/nodes"] = status(403, "Forbidden", "no nodes for you")
    code, out, err = smoke(tmp_path, estate, "--image", "other:1")
    assert (code, out) == (1, "")
    assert "nodes are not known" in err and "RBAC: list on nodes" in err


def test_a_dry_run_prints_the_pods_and_makes_nothing(tmp_path: Path) -> None:
    estate = Estate(node("gpu-a"), node("gpu-b"))
    code, out, _ = smoke(tmp_path, estate, "--dry-run", "--node", "gpu-b", "--image", "other:1", "-n", "default")
    (pod,) = yaml.safe_load_all(out)
    assert (code, estate.made) == (0, [])
    assert (pod["kind"], pod["metadata"]["namespace"]) == ("Pod", "default")
    assert pod["spec"]["containers"][0]["image"] == "other:1"
    assert {m for m, _ in estate.cluster.calls} == {"GET"}
    name = pod["metadata"]["name"]
    word = f"# planned  gpu-b  pod default/{name} asks for 1 nvidia.com/gpu, runs `nvidia-smi -L` in other:1"
    assert out.splitlines()[0] == word


def test_a_dry_run_as_json_has_a_word_on_every_node(tmp_path: Path) -> None:
    code, out, _ = smoke(tmp_path, Estate(node("gpu-a"), node("gpu-b", ready="False")), "--dry-run", "-o", "json")
    nodes = [(n["node"], n["result"]) for n in json.loads(out)["nodes"]]
    assert (code, nodes) == (4, [("gpu-a", "planned"), ("gpu-b", "skipped")])


def test_labels_choose_nodes_and_labels_of_none_are_bad_input(tmp_path: Path) -> None:
    pooled = node("gpu-b")
    pooled["metadata"]["labels"]["pool"] = "a"
    estate = Estate(node("gpu-a"), pooled)
    code, out, _ = smoke(tmp_path, estate, "--dry-run", "-o", "json", "-l", "pool=a")
    assert (code, [n["node"] for n in json.loads(out)["nodes"]]) == (0, ["gpu-b"])
    code, out, err = smoke(tmp_path, estate, "--dry-run", "-l", "pool=b")
    assert (code, out, 'smoke: no node has labels "pool=b"' in err) == (2, "", True)


def test_a_node_that_is_not_there_or_no_operator_is_bad_input(tmp_path: Path) -> None:
    code, _, err = smoke(tmp_path, Estate(node("gpu-a")), "--node", "gpu-z")
    assert (code, "node gpu-z is not there (there is: gpu-a)" in err) == (2, True)
    bare = Estate(node("gpu-a"))
    bare.begin = lambda: bare.cluster.put("/api/v1/nodes/gpu-a", node("gpu-a"))  # type: ignore[method-assign,assignment,return-value]
    code, _, err = smoke(tmp_path, bare)
    assert (code, "give --image IMAGE" in err) == (2, True)
