"""`lint --node` and `effective --node` against an API server that serves a recorded cluster; they only look.

The state of gpu-b was recorded a moment before its agent saw the drop-in that somebody added; here it has seen it.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.cli.test_lint import CRI
from tests.collect.test_live import BUNDLES, Recorded, Refused
from tests.kube.fake_server import Answer, FakeServer, Request, fake_server


def nobody(plural: str, namespace: str, name: str) -> bool:
    """RBAC refuses nothing."""
    return False


_LATER = f'version = 2\n[{CRI}.registry]\nconfig_path = "/etc/containerd/certs.d"\n'


class Trapped(Recorded):
    """The recorded cluster, the added drop-in published."""

    def __call__(self, request: Request) -> Answer:
        answer = super().__call__(request)
        if request.path.endswith("/gpunodestates/gpu-b") and isinstance(answer.body, dict) and "status" in answer.body:
            files = answer.body["status"]["runtime"]["files"]
            files.append({"path": "/etc/containerd/conf.d/zz-registry.toml", "text": _LATER})
        return answer


async def _ask(folder: Path, *arguments: str, refused: Refused = nobody) -> tuple[int, str, str, FakeServer]:
    async with fake_server(Trapped(BUNDLES / "dropin-trap.tgz", refused)) as server:
        config = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": server.url}}],
            "users": [{"name": "u", "user": {}}],
        }
        (folder / "kubeconfig").write_text(yaml.safe_dump(config))
        command = ["-m", "lockgate.cli.main", *arguments, "--kubeconfig", str(folder / "kubeconfig")]
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await asyncio.wait_for(process.communicate(), 60)
        return process.returncode or 0, out.decode(), err.decode(), server


def ask(folder: Path, *arguments: str, refused: Refused = nobody) -> tuple[int, str, str, FakeServer]:
    return asyncio.run(_ask(folder, *arguments, refused=refused))


def _ids(report: dict[str, Any]) -> set[str]:
    return {finding["id"] for finding in report["findings"]}


def test_what_the_agent_published_shows_the_trap(tmp_path: Path) -> None:
    code, out, err, server = ask(tmp_path, "lint", "--node", "gpu-b", "-o", "json")
    assert (code, err) == (3, "")
    report = json.loads(out)
    assert "containerd/dropin-overridden" in _ids(report)
    assert {f["node"] for f in report["findings"]} == {"gpu-b"}
    assert {request.method for request in server.requests} == {"GET"}
    assert len(server.requests) <= 4


def test_a_node_whose_files_are_right_is_silent(tmp_path: Path) -> None:
    assert ask(tmp_path, "lint", "--node", "gpu-a")[0] == 0


def test_effective_prints_the_nodes_configuration(tmp_path: Path) -> None:
    code, out, _, _ = ask(tmp_path, "effective", "--node", "gpu-b", "-o", "json")
    assert code == 0
    runtimes = json.loads(out)["config"]["plugins"]["io.containerd.grpc.v1.cri"]["containerd"]["runtimes"]
    assert list(runtimes) == ["runc"]


def test_fix_is_refused_for_a_node_of_the_cluster(tmp_path: Path) -> None:
    code, _, err, _ = ask(tmp_path, "lint", "--node", "gpu-b", "--fix")
    assert code == 2
    assert "--fix writes files of this machine, not of gpu-b" in err


def test_a_node_that_nobody_published_is_said(tmp_path: Path) -> None:
    code, _, err, _ = ask(tmp_path, "lint", "--node", "nobody")
    assert code == 2
    assert "node nobody: the toolkit agent has not published its containerd files" in err


def test_without_permission_it_names_what_is_needed(tmp_path: Path) -> None:
    code, _, err, _ = ask(
        tmp_path, "lint", "--node", "gpu-b", refused=lambda plural, namespace, name: plural == "gpunodestates"
    )
    assert code == 1
    assert "RBAC: get on gpunodestates.lockgate.dev" in err
