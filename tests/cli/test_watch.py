"""`why pod/x --watch` against a server that tells changes by watches: gates as they are passed, until the pod runs."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_collect import config
from tests.cli.test_why import BUNDLES, run
from tests.kube.fake_server import Answer, FakeServer, Request, fake_server, status
from tests.kube.small_cluster import SmallCluster

ONE = {"nvidia.com/gpu": "1"}
POD = "/api/v1/namespaces/ml/pods/late"
FULL = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."


def node() -> dict[str, Any]:
    numbers = {**ONE, "pods": "110", "cpu": "8", "memory": "64Gi"}
    ready = [{"type": "Ready", "status": "True"}]
    labels = {"nvidia.com/gpu.present": "true"}
    return {
        "metadata": {"labels": labels},
        "status": {"capacity": numbers, "allocatable": numbers, "conditions": ready},
    }


def pod(on: str = "", phase: str = "Pending", **state: Any) -> dict[str, Any]:
    resources = {"limits": ONE, "requests": ONE}
    placed = {"type": "PodScheduled", "status": "True" if on else "False", "lastTransitionTime": "2026-11-30T10:00:07Z"}
    conditions = [placed | ({} if on else {"message": FULL, "reason": "Unschedulable"})]
    statuses = [{"name": "main", "state": state, "ready": "running" in state}] if state else []
    conditions += [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-30T10:00:20Z"}] * (
        "running" in state
    )
    return {
        "spec": {"nodeName": on, "containers": [{"name": "main", "resources": resources}]},
        "status": {"phase": phase, "conditions": conditions, "containerStatuses": statuses},
    }


RUNNING = {"on": "gpu-a", "phase": "Running", "running": {"startedAt": "2026-11-30T10:00:15Z"}}
SCHEDULED = {"on": "gpu-a", "waiting": {"reason": "ContainerCreating"}}


class Watched:
    """The command, its output line by line, and the cluster that it looks at."""

    def __init__(self, process: asyncio.subprocess.Process, cluster: SmallCluster, server: FakeServer) -> None:
        self.process, self.cluster, self.server, self.said = process, cluster, server, ""

    async def until(self, words: str) -> str:
        """Everything that was said, once these words were."""
        assert self.process.stdout is not None
        async with asyncio.timeout(30):
            while words not in self.said:
                line = await self.process.stdout.readline()
                assert line, f"it ended without {words!r}:\n{self.said}"
                self.said += line.decode()
        return self.said

    async def ends(self) -> int:
        assert self.process.stdout is not None
        async with asyncio.timeout(30):
            self.said += (await self.process.stdout.read()).decode()
            return await self.process.wait()


@asynccontextmanager
async def watching(
    folder: Path, *arguments: str, answer: Callable[[Request], Answer | None] = lambda request: None
) -> Any:
    cluster = SmallCluster()
    cluster.put("/api/v1/nodes/gpu-a", node())
    holder = pod("gpu-a", "Running", running={})
    cluster.put("/api/v1/namespaces/ml/pods/holder", holder)
    async with fake_server(lambda request: answer(request) or _serve(cluster, request)) as server:
        command = ["-m", "lockgate.cli.main", "why", "pod/late", "-n", "ml", "--watch", *arguments]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *command,
            "--kubeconfig",
            str(config(folder, server.url)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            yield Watched(process, cluster, server)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def _serve(cluster: SmallCluster, request: Request) -> Answer:
    """Only what has the name that is asked for, as the real server selects."""
    if request.path.endswith("/log"):
        return Answer("epoch 1")
    name = request.query.get("fieldSelector", "").partition("metadata.name=")[2]
    if name and not request.query.get("watch"):
        found = cluster.objects.get(f"{request.path}/{name}")
        return Answer({"metadata": {"resourceVersion": str(cluster.version)}, "items": [found] if found else []})
    return cluster.handle(request)


def test_each_gate_is_told_with_its_moment_until_the_pod_runs(tmp_path: Path) -> None:
    async def story() -> None:
        async with watching(tmp_path) as seen:
            seen.cluster.put(POD, pod())
            said = await seen.until("Next")
            assert "BROKEN  pod/late in ml: Every GPU is held" in said
            seen.cluster.drop("/api/v1/namespaces/ml/pods/holder")
            seen.cluster.put(POD, pod(**SCHEDULED))
            await seen.until("10:00:07Z  gate 1 passed  it has a place on gpu-a")
            seen.cluster.put(POD, pod(**RUNNING))
            assert await seen.ends() == 0
            assert "10:00:15Z  gate 2 passed  its containers have started" in seen.said
            assert "10:00:20Z  ready" in seen.said
            assert "pod/late in ml runs on gpu-a with its nvidia.com/gpu. Nothing is wrong." in seen.said
            assert max(len(line) for line in seen.said.splitlines()) <= 100
            assert {method for method, _ in seen.cluster.calls} == {"GET"}

    asyncio.run(story())


def test_what_a_kubelet_says_by_turns_is_told_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with watching(tmp_path) as seen:
            seen.cluster.drop("/api/v1/namespaces/ml/pods/holder")
            for turn in range(3):
                for reason in ("ErrImagePull", "ImagePullBackOff"):
                    message = f"no such image, attempt {turn}"
                    seen.cluster.put(POD, pod("gpu-a", waiting={"reason": reason, "message": message}))
                    await asyncio.sleep(0.5)
            seen.cluster.put(POD, pod(**RUNNING))
            assert await seen.ends() == 0
            assert seen.said.count("(ErrImagePull)") == 1
            assert seen.said.count("(ImagePullBackOff)") == 1

    asyncio.run(story())


def test_between_two_changes_nothing_is_asked(tmp_path: Path) -> None:
    async def story() -> None:
        async with watching(tmp_path) as seen:
            seen.cluster.put(POD, pod())
            await seen.until("Next")
            await asyncio.sleep(1)
            before = len(seen.server.requests)
            await asyncio.sleep(2)
            assert len(seen.server.requests) == before

    asyncio.run(story())


def test_a_pod_that_is_deleted_and_made_anew_is_followed_on(tmp_path: Path) -> None:
    async def story() -> None:
        async with watching(tmp_path) as seen:
            seen.cluster.put(POD, pod(**SCHEDULED))
            await seen.until("gate 1 passed")
            seen.cluster.drop(POD)
            await seen.until("pod/late was deleted; waiting for one of that name")
            seen.cluster.put(POD, pod())
            await seen.until("pod/late was made")
            seen.cluster.put(POD, pod(**RUNNING))
            assert await seen.ends() == 0
            assert seen.said.count("gate 1 passed") == 2

    asyncio.run(story())


def test_a_pod_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    async def story() -> None:
        async with watching(tmp_path) as seen:
            await seen.until("waiting for one of that name")
            seen.cluster.put(POD, pod(**RUNNING))
            assert await seen.ends() == 0

    asyncio.run(story())


def test_an_expired_watch_is_taken_up_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with watching(tmp_path) as seen:
            seen.cluster.put(POD, pod())
            await seen.until("Next")
            seen.cluster.put(POD, pod(**RUNNING))
            seen.cluster.forget_history()
            seen.server.drop_connections()
            assert await seen.ends() == 0

    asyncio.run(story())


def test_an_event_is_a_change_too(tmp_path: Path) -> None:
    async def story() -> None:
        async with watching(tmp_path) as seen:
            seen.cluster.put(POD, pod(**SCHEDULED))
            await seen.until("gate 1 passed")
            about = {"kind": "Pod", "namespace": "ml", "name": "late"}
            text = 'Failed to create pod sandbox: no runtime for "nvidia" is configured'
            event = {"type": "Warning", "reason": "FailedCreatePodSandBox", "message": text, "involvedObject": about}
            seen.cluster.put("/api/v1/namespaces/ml/events/e", event)
            assert "containerd/handler-missing" in await seen.until("Next")

    asyncio.run(story())


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_ends_it_cleanly(tmp_path: Path) -> None:
    async def story() -> None:
        async with watching(tmp_path) as seen:
            seen.cluster.put(POD, pod())
            await seen.until("Next")
            seen.process.send_signal(signal.SIGINT)
            assert await seen.ends() == 130
            assert seen.process.stderr is not None
            assert (await seen.process.stderr.read()).decode() == ""

    asyncio.run(story())


def test_json_is_one_document_a_line(tmp_path: Path) -> None:
    async def story() -> None:
        async with watching(tmp_path, "-o", "json") as seen:
            seen.cluster.put(POD, pod())
            await seen.until("scheduling/all-held")
            seen.cluster.put(POD, pod(**RUNNING))
            assert await seen.ends() == 0
            verdicts = [json.loads(line)["verdict"] for line in seen.said.splitlines()]
            assert (verdicts[-2:]) == ["broken", "healthy"]

    asyncio.run(story())


def test_without_the_right_to_watch_it_says_so(tmp_path: Path) -> None:
    def refuse(request: Request) -> Answer | None:
        return status(403, "Forbidden", "pods may not be watched") if request.query.get("watch") else None

    async def story() -> None:
        async with watching(tmp_path, answer=refuse) as seen:
            seen.cluster.put(POD, pod())
            assert await seen.ends() == 1

    asyncio.run(story())


def test_only_a_pod_of_a_live_cluster_can_be_followed() -> None:
    for arguments in (("deploy/x",), ("pod/late", "--from", str(BUNDLES / "all-held.tgz")), ("pod/x", "-o", "yaml")):
        result = run("why", *arguments, "--watch")
        assert (result.returncode, "--watch follows pod/NAME" in result.stderr) == (2, True)
