"""`lint --node` and `effective --node` against an API server that serves a recorded cluster; they only look.

The state of gpu-b was recorded a moment before its agent saw the drop-in that somebody added; here it has seen it.
"""

import asyncio
import json
import sys
from collections.abc import Callable
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


Change = Callable[[dict[str, Any]], None]


def trapped(status: dict[str, Any]) -> None:
    """The added drop-in is published."""
    status["runtime"]["files"].append({"path": "/etc/containerd/conf.d/zz-registry.toml", "text": _LATER})


class Changed(Recorded):
    """The recorded cluster, but for what the agents of gpu-b publish."""

    def __init__(self, path: Path, refused: Refused, change: Change) -> None:
        super().__init__(path, refused)
        self._change = change

    def __call__(self, request: Request) -> Answer:
        answer = super().__call__(request)
        if request.path.endswith("/gpunodestates/gpu-b") and isinstance(answer.body, dict) and "status" in answer.body:
            self._change(answer.body["status"])
        return answer


async def _ask(folder: Path, *arguments: str, refused: Refused, change: Change) -> tuple[int, str, str, FakeServer]:
    async with fake_server(Changed(BUNDLES / "dropin-trap.tgz", refused, change)) as server:
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


def ask(
    folder: Path, *arguments: str, refused: Refused = nobody, change: Change = trapped
) -> tuple[int, str, str, FakeServer]:
    return asyncio.run(_ask(folder, *arguments, refused=refused, change=change))


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


KIND = "k8s.device-plugin.nvidia.com/gpu"
SPEC = json.dumps(
    {"cdiVersion": "0.5.0", "kind": KIND, "devices": [{"name": "GPU-1", "containerEdits": {"env": ["A=1"]}}]}
)


def publishing(specs: list[dict[str, Any]], **sections: Any) -> Change:
    """Only these specifications are published of gpu-b, and these sections anew."""

    def change(status: dict[str, Any]) -> None:
        status["cdi"] = {"specs": [{"path": "/var/run/cdi/plugin.json", "kind": KIND, **spec} for spec in specs]}
        for name, fields in sections.items():
            status[name] = {**status.get(name, {}), **fields}

    return change


def devices(*uuids: str) -> dict[str, Any]:
    return {"registered": True, "cdiKind": KIND, "devices": [{"uuid": uuid} for uuid in uuids]}


def test_published_specifications_are_judged_line_by_line(tmp_path: Path) -> None:
    broken = SPEC.replace('"devices"', '"devises"')
    _, out, _, _ = ask(tmp_path, "lint", "--node", "gpu-b", "-o", "json", change=publishing([{"text": broken}]))
    (finding,) = [f for f in json.loads(out)["findings"] if f["id"] == "cdi/invalid"]
    assert finding["lines"][0]["file"] == "gpu-b:/var/run/cdi/plugin.json"
    assert "devises" in finding["lines"][0]["text"]


def test_names_that_the_plugin_hands_out_are_looked_up_in_what_is_published(tmp_path: Path) -> None:
    fine = publishing([{"text": SPEC, "devices": ["GPU-1"]}], devices=devices("GPU-1"))
    assert ask(tmp_path, "lint", "--node", "gpu-b", change=fine)[0] == 0
    for lost in (
        publishing([{"text": SPEC, "devices": ["GPU-1"]}], devices=devices("GPU-1", "GPU-2")),
        publishing([], devices=devices("GPU-2")),
    ):
        code, out, _, _ = ask(tmp_path, "lint", "--node", "gpu-b", "-o", "json", change=lost)
        assert code == 3
        (finding,) = json.loads(out)["findings"]
        assert finding["id"] == "cdi/allocated-name-undefined"
        assert f"{KIND}=GPU-2" in finding["summary"] and "GPU-1" not in finding["summary"]


def test_a_specification_too_long_to_publish_is_known_by_its_names_and_said(tmp_path: Path) -> None:
    long = publishing([{"truncated": True, "devices": ["GPU-1"]}], devices=devices("GPU-1"))
    code, out, _, _ = ask(tmp_path, "lint", "--node", "gpu-b", change=long)
    assert code == 0, "what cannot be judged is no finding"
    assert "not checked: /var/run/cdi/plugin.json of gpu-b: too long to be published" in " ".join(out.split())


def test_files_that_containerd_has_not_loaded_yet_are_told(tmp_path: Path) -> None:
    def later(status: dict[str, Any]) -> None:
        status["runtime"]["started"] = "2026-11-29T20:00:00Z"
        status["runtime"]["files"][0]["modified"] = "2026-11-29T21:00:00Z"

    code, out, _, _ = ask(tmp_path, "lint", "--node", "gpu-b", change=later)
    assert code == 4
    assert "warning[containerd/newer-than-process]" in out
