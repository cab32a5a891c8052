"""`collect`: a live cluster becomes a file that answers like the cluster, without a single secret in it."""

import asyncio
import json
import os
import signal
import stat
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.test_why import run
from tests.collect.test_live import BUNDLES, Recorded, Refused
from tests.collect.test_redaction import everything_of, planted
from tests.kube.fake_server import Answer, FakeServer, Request, fake_server

Serve = Callable[[Request], Answer]
NOBODY: Refused = lambda plural, namespace, name: False  # noqa: E731 - as the live tests write it


def config(folder: Path, url: str) -> Path:
    """A kubeconfig for a server."""
    path = folder / "kubeconfig"
    document = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {}}],
    }
    path.write_text(yaml.safe_dump(document))
    return path


async def gather(folder: Path, serve: Serve, *arguments: str, interrupt: float = 0) -> tuple[int, str, FakeServer]:
    """`collect -o bundle.tgz ARGUMENTS`: exit code, stderr, and the server."""
    async with fake_server(serve) as server:
        command = ["-m", "lockgate.cli.main", "collect", "-o", str(folder / "bundle.tgz"), *arguments]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *command,
            "--kubeconfig",
            str(config(folder, server.url)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        if interrupt:
            while not any("nodes" in r.path for r in server.requests):
                await asyncio.sleep(0.05)
            await asyncio.sleep(interrupt)
            os.kill(process.pid, signal.SIGINT)
        _, err = await asyncio.wait_for(process.communicate(), 60)
        return process.returncode or 0, err.decode(), server


def manifest_of(bundle: Path) -> dict[str, Any]:
    with tarfile.open(bundle) as tar:
        file = tar.extractfile("bundle/manifest.json")
        assert file is not None
        document: dict[str, Any] = json.load(file)
        return document


@pytest.mark.parametrize(
    ("bundle", "ask", "verdict", "cause"),
    [
        ("healthy-installed", "pod/train", "healthy", ""),
        ("all-held", "pod/late", "broken", "scheduling/all-held"),
        ("unhealthy", "node/gpu-a", "broken", "xid/off-the-bus"),
        ("quota", "", "broken", "admission/quota"),
        ("cdi-unresolvable", "", "broken", "cdi/unresolvable"),
    ],
)
def test_the_bundle_answers_as_the_cluster_does(
    bundle: str, ask: str, verdict: str, cause: str, tmp_path: Path
) -> None:
    code, error, server = asyncio.run(gather(tmp_path, Recorded(BUNDLES / f"{bundle}.tgz", NOBODY)))
    assert code in (0, 4), error
    assert {r.method for r in server.requests} == {"GET"}
    assert not [r.path for r in server.requests if "secrets" in r.path or "configmaps" in r.path]
    report = json.loads(run("why", ask, "-n", "default", "--from", str(tmp_path / "bundle.tgz"), "-o", "json").stdout)
    assert (report["verdict"], "".join(f["id"] for f in report["findings"][:1])) == (verdict, cause)


class WithSecrets:
    """A recorded cluster with a hundred secrets in its objects, logs and node files."""

    def __init__(self) -> None:
        self._recorded = Recorded(BUNDLES / "unhealthy.tgz", NOBODY)
        self.secrets = planted(7)
        texts = [text for _, _, text in self.secrets]
        objects = self._recorded._objects
        for pod in objects["pods"]:
            container = pod["spec"]["containers"][0]
            container["env"] = [{"name": f"V{n}", "value": text} for n, text in enumerate(texts)]
            container["args"] = texts
            pod["metadata"]["annotations"] = {f"example.com/{n}": text for n, text in enumerate(texts)}
            pod["status"]["message"] = "; ".join(texts[:50])
        for event in objects["events"]:
            event["message"] = f"{event.get('message', '')} {texts[len(event['metadata']['name']) % 100]}"
        for policy in objects["clusterpolicies"]:
            policy["spec"]["toolkit"] = {"env": [{"name": f"T{n}", "value": t} for n, t in enumerate(texts)]}
            policy["spec"]["note"] = "\n".join(texts)
        for state in objects["gpunodestates"]:
            state["status"]["runtime"]["files"] = [{"path": "/etc/containerd/config.toml", "text": "\n".join(texts)}]
        self._recorded._logs = {name: "\n".join(texts).encode() for name in self._recorded._logs}

    def __call__(self, request: Request) -> Answer:
        return self._recorded(request)


def test_a_hundred_planted_secrets_of_twenty_kinds_are_not_in_it(tmp_path: Path) -> None:
    cluster = WithSecrets()
    code, error, _ = asyncio.run(gather(tmp_path, cluster))
    assert code in (0, 4), error
    text = everything_of(tmp_path / "bundle.tgz") + error
    assert [(kind, secret) for kind, secret, _ in cluster.secrets if secret in text] == []
    assert manifest_of(tmp_path / "bundle.tgz")["redacted"]["env"] >= 100
    assert stat.S_IMODE((tmp_path / "bundle.tgz").stat().st_mode) == 0o600
    report = run("why", "node/gpu-a", "--from", str(tmp_path / "bundle.tgz"))
    assert "devices/unhealthy" in report.stdout


def test_what_may_not_be_read_is_in_the_manifest_and_in_the_answer(tmp_path: Path) -> None:
    refused = Recorded(BUNDLES / "all-held.tgz", lambda plural, namespace, name: plural == "nodes")
    code, error, _ = asyncio.run(gather(tmp_path, refused))
    assert code == 4
    assert "nodes: not read (RBAC: list on nodes)" in error
    manifest = manifest_of(tmp_path / "bundle.tgz")
    assert (manifest["complete"], manifest["sections"]["nodes"]["how"]) == (True, "RBAC: list on nodes")
    report = json.loads(run("why", "late", "--from", str(tmp_path / "bundle.tgz"), "-o", "json").stdout)
    assert {n["how"] for n in report["notChecked"]} == {"RBAC: list on nodes"}


def test_what_does_not_fit_is_left_out_and_said(tmp_path: Path) -> None:
    code, error, _ = asyncio.run(gather(tmp_path, Recorded(BUNDLES / "all-held.tgz", NOBODY), "--max-size", "20Ki"))
    manifest = manifest_of(tmp_path / "bundle.tgz")
    assert (code, manifest["complete"]) == (4, False)
    assert manifest["leftOut"]
    assert "over the size bound" in error


def test_an_interrupt_leaves_what_was_there(tmp_path: Path) -> None:
    recorded = Recorded(BUNDLES / "all-held.tgz", NOBODY)

    def slow(request: Request) -> Answer:
        answer = recorded(request)
        return Answer(lines=[None]) if "/pods" in request.path else answer

    code, error, _ = asyncio.run(gather(tmp_path, slow, interrupt=2))
    assert code == 130, error
    assert "interrupted" in error
    sections = manifest_of(tmp_path / "bundle.tgz")["sections"]
    assert sections["nodes"]["count"] == 2
    assert "interrupted" in sections["pods"]["missing"]
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_a_terminal_shows_a_bar_and_only_the_lines_that_matter(tmp_path: Path) -> None:
    if not Path("/usr/bin/script").exists():
        pytest.skip("needs the program `script` to make a terminal")

    async def shown() -> str:
        refused = Recorded(BUNDLES / "all-held.tgz", lambda plural, namespace, name: plural == "events")
        async with fake_server(refused) as server:
            words = f"collect -o {tmp_path}/b.tgz --kubeconfig {config(tmp_path, server.url)}"
            command = ["script", "-qec", f"{sys.executable} -m lockgate.cli.main {words}", "/dev/null"]
            environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
            process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env=environment)
            out, _ = await asyncio.wait_for(process.communicate(), 60)
            return out.decode()

    text = asyncio.run(shown())
    assert "\x1b[2K" in text  # the bar is drawn over and over, and wiped in the end
    assert "━" in text
    assert "events: not read (RBAC: list on events in the whole cluster)" in text
    assert text.rstrip().endswith(f"{tmp_path}/b.tgz")


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "bundle.tgz").write_text("mine")
    code, error, _ = asyncio.run(gather(tmp_path, Recorded(BUNDLES / "all-held.tgz", NOBODY)))
    assert (code, (tmp_path / "bundle.tgz").read_text()) == (2, "mine")
    assert "is there already" in error


def test_an_unreachable_cluster_leaves_no_file(tmp_path: Path) -> None:
    path = config(tmp_path, "http://127.0.0.1:9")
    result = run("collect", "-o", str(tmp_path / "b.tgz"), "--kubeconfig", str(path), "--request-timeout", "2s")
    assert (result.returncode, sorted(p.name for p in tmp_path.iterdir())) == (1, ["kubeconfig"])
