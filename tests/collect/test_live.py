"""The live collector against an API server that serves a recorded cluster: same answers, few requests, only looks."""

import asyncio
import json
import re
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockgate.collect.errors import InputError
from lockgate.collect.live import parse_timeout
from lockgate.kube import resources as kinds
from tests.kube.fake_server import Answer, FakeServer, Handler, Request, fake_server, status

BUNDLES = Path(__file__).parents[1] / "bundles"
Refused = Callable[[str, str, str], bool]  # plural, namespace, name -> whether RBAC refuses it
_PATH = re.compile(
    r"/apis?/(?:[^/]+/)?v\d\w*/(?:namespaces/(?P<ns>[^/]+)/)?(?P<plural>[a-z]+)(?:/(?P<name>[^/]+))?(?:/(?P<sub>log))?"
)


class Recorded:
    """A bundle as an API server: lists with field selectors, objects, logs."""

    def __init__(self, bundle: Path, refused: Refused) -> None:
        self._refused = refused
        self._objects: dict[str, list[dict[str, Any]]] = {}
        self._logs: dict[str, bytes] = {}
        with tarfile.open(bundle) as tar:
            for info in tar:
                area, _, rest = info.name.partition("/")[2].partition("/")
                file = tar.extractfile(info)
                if file is not None and area == "cluster":
                    self._objects[rest.removesuffix(".json")] = json.load(file)["items"]
                elif file is not None and area == "logs":
                    self._logs[rest.removesuffix(".log")] = file.read()

    def __call__(self, request: Request) -> Answer:
        if request.path == "/apis":
            served = sorted({k.api_version for k in kinds.ALL if k.group and k.plural in self._objects})
            return Answer({"groups": [{"versions": [{"groupVersion": v}]} for v in served]})
        at = _PATH.fullmatch(request.path)
        if at is None or at["plural"] not in self._objects:
            return Answer("404 page not found", 404)
        plural, namespace, name = at["plural"], at["ns"] or "", at["name"] or ""
        if self._refused(plural, namespace, name):
            return status(403, "Forbidden", f'User "u" cannot look at resource "{plural}"')
        if at["sub"]:
            return self._log(namespace, name, request.query)
        here = [o for o in self._objects[plural] if namespace in ("", o["metadata"].get("namespace"))]
        if name:
            one = next((o for o in here if o["metadata"]["name"] == name), None)
            return Answer(one) if one else status(404, "NotFound", f'{plural} "{name}" not found')
        chosen = [o for o in here if _selected(o, request.query.get("fieldSelector", ""))]
        # A real list leaves out the kind of its items.
        return Answer({"items": [{k: v for k, v in o.items() if k not in ("kind", "apiVersion")} for o in chosen]})

    def _log(self, namespace: str, name: str, query: dict[str, str]) -> Answer:
        """The end of a log as text, as much of it as is asked for; of an earlier run only where there was one."""
        run = ".previous" if query.get("previous") == "true" else ""
        text = self._logs.get(f"{namespace}/{name}/{query['container']}{run}")
        if text is None and run:
            gone = f'previous terminated container "{query["container"]}" in pod "{name}" not found'
            return status(400, "BadRequest", gone)
        lines = (text or b"").splitlines(keepends=True)
        last = lines[-int(query["tailLines"]) :] if "tailLines" in query else lines
        cut = b"".join(last)[: int(query.get("limitBytes", sys.maxsize))]
        return Answer(cut, headers={"Content-Type": "text/plain"})


def _selected(found: dict[str, Any], selector: str) -> bool:
    for part in filter(None, selector.split(",")):
        path, operator, value = re.split(r"(!=|=)", part, maxsplit=1)
        seen: Any = found
        for key in path.split("."):
            seen = (seen or {}).get(key)
        if ((seen or "") == value) == (operator == "!="):
            return False
    return True


async def ask(
    folder: Path, bundle: str, *arguments: str, refused: Refused = lambda plural, namespace, name: False
) -> tuple[int, dict[str, Any], str, FakeServer]:
    """`why ARGUMENTS -o json` against a recorded cluster: exit code, report, stderr, and the server."""
    return await ask_of(folder, Recorded(BUNDLES / f"{bundle}.tgz", refused), *arguments)


async def ask_of(folder: Path, cluster: Handler, *arguments: str) -> tuple[int, dict[str, Any], str, FakeServer]:
    """The same against any cluster."""
    async with fake_server(cluster) as server:
        config = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "default"}}],
            "clusters": [{"name": "c", "cluster": {"server": server.url}}],
            "users": [{"name": "u", "user": {}}],
        }
        (folder / "kubeconfig").write_text(yaml.safe_dump(config))
        command = [
            "-m",
            "lockgate.cli.main",
            "why",
            *arguments,
            "--kubeconfig",
            str(folder / "kubeconfig"),
            "-o",
            "json",
        ]
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await asyncio.wait_for(process.communicate(), 60)
        return process.returncode or 0, json.loads(out or b"{}"), err.decode(), server


def _cases() -> list[Any]:
    found = []
    for path in sorted(BUNDLES.glob("*.yaml")):
        found += [
            pytest.param(path.stem, c, id=f"{path.stem}:{c['ask']}") for c in yaml.safe_load(path.read_text())["cases"]
        ]
    return found


@pytest.mark.parametrize(("bundle", "case"), _cases())
def test_the_live_answer_is_the_one_from_the_files(bundle: str, case: dict[str, Any], tmp_path: Path) -> None:
    asked = (case["ask"], "-n", case.get("namespace", "default")) if case["ask"] else ()
    code, report, error, server = asyncio.run(ask(tmp_path, bundle, *asked))
    assert error == ""
    roots = [f["id"] for f in report["findings"] if not f["follows"]]
    # Files of nodes are not there for a live look: without our agents a finding that needs them is lacking.
    expected = [c.replace("dropin-overridden", "handler-missing") for c in case["causes"]]
    assert (report["verdict"], roots) == (case["verdict"], expected)
    assert code == case["exit"]
    assert {r.method for r in server.requests} == {"GET"}
    assert not [r.path for r in server.requests if "watch" in r.query or "/exec" in r.path or "secrets" in r.path]


def test_a_pod_with_a_node_costs_a_handful_of_requests_and_reads_one_node(tmp_path: Path) -> None:
    _, _, _, server = asyncio.run(ask(tmp_path, "healthy", "pod/train"))
    paths = [r.path for r in server.requests]
    assert len(paths) <= 12, paths
    assert "/api/v1/nodes" not in paths
    assert "/api/v1/nodes/node-b" in paths
    lists = [r for r in server.requests if r.path == "/api/v1/pods"]
    assert [r.query["fieldSelector"] for r in lists] == [
        "spec.nodeName=node-b,status.phase!=Succeeded,status.phase!=Failed"
    ]


def test_without_permission_for_other_namespaces_it_says_what_stays_open(tmp_path: Path) -> None:
    def refused(plural: str, namespace: str, name: str) -> bool:
        return plural == "pods" and not namespace

    code, report, _, _ = asyncio.run(ask(tmp_path, "all-held", "pod/late", refused=refused))
    assert (code, report["verdict"]) == (4, "unknown")
    open_ = {n["id"]: n for n in report["notChecked"]}
    assert "scheduling/all-held" in open_
    assert "scheduling/all-held" not in {f["id"] for f in report["findings"]}


def test_without_permission_for_nodes_it_names_verb_and_resource(tmp_path: Path) -> None:
    code, report, _, _ = asyncio.run(
        ask(tmp_path, "all-held", "pod/late", refused=lambda p, namespace, n: p == "nodes")
    )
    assert code == 4
    lacking = {n["how"] for n in report["notChecked"]}
    assert lacking == {"RBAC: list on nodes"}


def test_without_permission_for_the_pod_itself_there_is_no_answer(tmp_path: Path) -> None:
    code, report, error, _ = asyncio.run(ask(tmp_path, "all-held", "pod/late", refused=lambda p, s, n: p == "pods"))
    assert (code, report) == (1, {})
    assert 'cannot look at resource "pods"' in error


@pytest.mark.parametrize(
    ("asked", "permission"),
    [
        ((), "list on nodes"),
        (("node/node-a",), "get on nodes"),
        (("operand/device-plugin",), "list on daemonsets.apps"),
    ],
)
def test_what_cannot_be_looked_up_at_all_names_the_permission(
    asked: tuple[str, ...], permission: str, tmp_path: Path
) -> None:
    code, report, error, _ = asyncio.run(ask(tmp_path, "all-held", *asked, refused=lambda p, s, n: True))
    assert (code, report) == (1, {})
    assert f"RBAC: {permission}" in error


def test_who_may_only_get_in_one_namespace_is_told_every_permission_that_lacks(tmp_path: Path) -> None:
    def refused(plural: str, namespace: str, name: str) -> bool:
        return not (namespace == "default" and name)

    code, report, _, _ = asyncio.run(ask(tmp_path, "all-held", "pod/late", refused=refused))
    assert code == 4
    hows = {n["how"] for n in report["notChecked"]}
    assert {"RBAC: list on nodes", "RBAC: list on events in namespace default"} <= hows


def test_a_pod_that_runs_is_well_and_what_may_not_be_seen_is_said(tmp_path: Path) -> None:
    answer = ask(tmp_path, "healthy", "pod/train", refused=lambda p, s, n: p in ("events", "nodes"))
    code, report, _, _ = asyncio.run(answer)
    assert (code, report["verdict"]) == (0, "healthy")
    assert {(n["id"], n["how"]) for n in report["notChecked"]} == {
        ("events", "RBAC: list on events in namespace default"),
        ("nodes", "RBAC: get on nodes"),
    }


def test_a_mistyped_pod_gets_near_names(tmp_path: Path) -> None:
    code, _, error, _ = asyncio.run(ask(tmp_path, "all-held", "pod/lat"))
    assert (code, "did you mean late?" in error) == (2, True), error


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("1m", 60), ("1m30s", 90), ("500ms", 0.5), ("2", 2), ("1h", 3600)]
)
def test_timeouts_are_read_as_kubectl_reads_them(text: str, seconds: float) -> None:
    assert parse_timeout(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-1s", "1d"])
def test_another_timeout_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no duration"):
        parse_timeout(text)
