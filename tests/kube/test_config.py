"""Which cluster, and as whom: kubeconfig files, the pod's account, exec plugins, impersonation."""

import asyncio
import base64
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockgate.kube.api import Api
from lockgate.kube.config import Connection, connect
from lockgate.kube.direct import Direct
from lockgate.kube.errors import ConfigError
from lockgate.kube.resources import NODES
from tests.kube.fake_server import Answer, Request, fake_server


def kubeconfig(path: Path, context: str, server: str, user: dict[str, Any] | None = None, **extra: Any) -> Path:
    path.write_text(
        yaml.safe_dump(
            {
                "current-context": context,
                "clusters": [{"name": context, "cluster": {"server": server}}],
                "users": [{"name": context, "user": user or {"token": "t"}}],
                "contexts": [{"name": context, "context": {"cluster": context, "user": context, **extra}}],
            }
        )
    )
    return path


def test_a_file_given_by_name_wins_over_the_environment(tmp_path: Path) -> None:
    one = kubeconfig(tmp_path / "one", "one", "http://one")
    two = kubeconfig(tmp_path / "two", "two", "http://two", namespace="ml")
    found = connect(kubeconfig=two, environ={"KUBECONFIG": str(one)})
    assert (found.server, found.namespace, found.source) == ("http://two", "ml", str(two))


def test_several_files_are_merged_and_the_first_context_is_current(tmp_path: Path) -> None:
    one = kubeconfig(tmp_path / "one", "one", "http://one")
    two = kubeconfig(tmp_path / "two", "two", "http://two")
    environ = {"KUBECONFIG": os.pathsep.join([str(tmp_path / "missing"), str(one), str(two)])}
    assert connect(environ=environ).server == "http://one"
    assert connect(environ=environ, context="two").server == "http://two"


def test_the_home_folder_comes_before_the_pods_account(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    kubeconfig(tmp_path / ".kube" / "config", "home", "http://home")
    assert connect(environ={"HOME": str(tmp_path)}).server == "http://home"


def test_a_pod_uses_its_own_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.kube.certificates import CA_PEM

    for name, text in {"token": "secret", "namespace": "gpu-operator", "ca.crt": CA_PEM}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    found = connect(environ={"HOME": "/nowhere"}, service_account=tmp_path)
    assert (found.server, found.namespace) == ("https://[fd00::1]:443", "gpu-operator")


_TO_C = "context: {cluster: c}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- a list\n", "expected a mapping, found list"),
        ("{", "is neither JSON nor YAML"),
        ("clusters: []\n---\ncontexts: []\n", "2 YAML documents"),
        ("clusters: []\ncontexts: []\n", "No current context"),
        ("current-context: x\nclusters: []\ncontexts: []\n", "Context 'x' not found"),
        ("clusters: 3\n", "not a kubeconfig"),
        ("current-context: x\ncontexts: [{name: x, context: {cluster: {}}}]\n", "not a kubeconfig"),
        (
            f"clusters: []\ncurrent-context: x\ncontexts: [{{name: 3, {_TO_C}}}, {{name: y, {_TO_C}}}]\n",
            "contexts: 3, y",
        ),
        (" " * (5 << 20), "larger than 4 MiB"),
        ("clusters: [" + "1," * 800_000 + "1]\n", "holds more than 100,000 values"),
        ("clusters: &c [*c]\n", "contains itself"),
    ],
)
def test_a_bad_file_is_one_clear_line_that_names_it(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad"
    path.write_text(text)
    with pytest.raises(ConfigError, match=says) as caught:
        connect(kubeconfig=path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_configuration_at_all_says_where_was_looked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no kubeconfig found \(.*\.kube/config\)"):
        connect(environ={"HOME": str(tmp_path)}, service_account=tmp_path)


def test_a_missing_certificate_file_is_named_and_relative_to_its_kubeconfig(tmp_path: Path) -> None:
    user = {"client-certificate": "me.crt", "client-key": "me.key"}
    path = kubeconfig(tmp_path / "k", "c", "https://c", user)
    with pytest.raises(ConfigError, match="No such file"):
        connect(kubeconfig=path)


def test_a_key_that_is_refused_stays_in_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = tmp_path / "written"
    written.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(written))
    key = base64.b64encode(b"no key").decode()
    path = kubeconfig(tmp_path / "k", "c", "https://c", {"client-certificate-data": key, "client-key-data": key})
    with pytest.raises(ConfigError) as refused:
        connect(kubeconfig=path)
    assert list(written.iterdir()) == [], refused.value


def plugin(tmp_path: Path, script: str, version: str = "v1") -> dict[str, Any]:
    path = tmp_path / "plugin"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"exec": {"apiVersion": f"client.authentication.k8s.io/{version}", "command": str(path)}}


def asked(tmp_path: Path, user: dict[str, Any], answers: list[Answer], **options: Any) -> list[Request]:
    async def body() -> list[Request]:
        async with fake_server(lambda _: answers.pop(0)) as server:
            found: Connection = connect(kubeconfig=kubeconfig(tmp_path / "k", "c", server.url, user), **options)
            async with Api(found) as api:
                while answers:
                    await api.get(NODES, "a")
            return server.requests

    return asyncio.run(body())


OK = {"metadata": {"name": "a"}}
TOKEN = json.dumps({"kind": "ExecCredential", "status": {"token": "secret"}})


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_an_exec_plugin_is_asked_once_for_its_token(tmp_path: Path, version: str) -> None:
    user = plugin(tmp_path, f"echo run >> {tmp_path}/runs\necho '{TOKEN}'", version)
    requests = asked(tmp_path, user, [Answer(OK), Answer(OK)])
    assert [r.headers["authorization"] for r in requests] == ["Bearer secret"] * 2
    assert (tmp_path / "runs").read_text() == "run\n"


def test_an_exec_plugin_is_asked_again_when_its_token_is_refused(tmp_path: Path) -> None:
    user = plugin(tmp_path, f"echo run >> {tmp_path}/runs\necho '{TOKEN}'")
    asked(tmp_path, user, [Answer(OK), Answer({}, 401), Answer(OK)])
    assert (tmp_path / "runs").read_text() == "run\nrun\n"


def test_an_expired_token_is_renewed_before_it_is_used(tmp_path: Path) -> None:
    old = json.dumps({"status": {"token": "t", "expirationTimestamp": "2020-01-01T00:00:00Z"}})
    user = plugin(tmp_path, f"echo run >> {tmp_path}/runs\necho '{old}'")
    asked(tmp_path, user, [Answer(OK), Answer(OK)])
    assert (tmp_path / "runs").read_text() == "run\nrun\n"


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo no account >&2; exit 3", "ended with 3: no account"),
        ("echo hello", "not an ExecCredential"),
        ("echo '{}'", "no token"),
        ('echo \'{"status": {"clientCertificateData": "x"}}\'', "client certificate"),
    ],
)
def test_a_failing_exec_plugin_says_what_happened(tmp_path: Path, script: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        asked(tmp_path, plugin(tmp_path, script), [Answer(OK)])


def test_a_plugin_of_an_unknown_interface_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown apiVersion"):
        asked(tmp_path, plugin(tmp_path, "true", "v7"), [Answer(OK)])


def test_impersonation_reaches_the_server(tmp_path: Path) -> None:
    (request,) = asked(tmp_path, {"token": "t"}, [Answer(OK)], as_user="dev", as_groups=("ml", "ops"))
    assert request.headers["impersonate-user"] == "dev"
    assert request.headers["authorization"] == "Bearer t"


@pytest.mark.parametrize(
    ("server", "proxy", "is_direct"),
    [("https://api", "", True), ("https://api", "http://proxy:3128", False), ("http://127.0.0.1", "http://p", True)],
)
def test_a_proxy_of_the_environment_is_left_to_httpx(
    server: str, proxy: str, is_direct: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    if proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy)
    found = connect(kubeconfig=kubeconfig(tmp_path / "k", "c", server))
    assert isinstance(found.client._transport, Direct) is is_direct


def test_a_plain_server_costs_no_trust_and_no_second_client(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from lockgate.kube.config import connect; "
    code += "made = connect(kubeconfig=Path(sys.argv[1])); context = made.client._transport._context; "
    code += "print('httpcore2' in sys.modules, context.cert_store_stats()['x509'], context.verify_mode.name)"
    asked = [sys.executable, "-c", code, str(kubeconfig(tmp_path / "k", "c", "http://127.0.0.1"))]
    said = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True).stdout
    assert said.split() == ["False", "0", "CERT_REQUIRED"]
