"""etcd, kube-apiserver and kube-scheduler on loopback, without root, kubelets or controllers, for the time of a block.

Nodes are objects only. Nothing marks them NotReady, since no controller runs; pods that are bound stay as they are.
"""

import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from deploy.cache import cache_folder
from tests.cluster import pki
from tests.cluster.processes import spawn
from tests.cluster.programs import golang
from tests.cluster.programs.build import locked, say_on_stderr
from tests.cluster.programs.table import GO_PROGRAMS

_TOKEN = "truth"
_READY_WITHIN = 60.0


class Client:
    """One kept connection to the API server; JSON in, JSON out."""

    def __init__(self, port: int, authority: str) -> None:
        self._port = port
        self._context = ssl.create_default_context(cadata=authority)
        self._connection = self._connect()

    def request(
        self, method: str, path: str, body: object = None, content: str = "application/json"
    ) -> tuple[int, bytes]:
        """One request; returns status and body, whatever the status."""
        headers = {"Authorization": f"Bearer {_TOKEN}", "Content-Type": content}
        data = None if body is None else json.dumps(body)
        try:
            self._connection.request(method, path, data, headers)
            answer = self._connection.getresponse()
            return answer.status, answer.read()
        except (http.client.HTTPException, OSError):
            self._connection.close()
            self._connection = self._connect()
            raise

    def watch(self, path: str) -> "Watch":
        """A watch on a connection of its own."""
        connection = self._connect()
        connection.request("GET", path, headers={"Authorization": f"Bearer {_TOKEN}"})
        return Watch(connection)

    def close(self) -> None:
        """Close the connection that requests share."""
        self._connection.close()

    def _connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self._port, context=self._context, timeout=60)


class Watch:
    """A response that goes on: one JSON document a line until it is stopped."""

    def __init__(self, connection: http.client.HTTPSConnection) -> None:
        self._connection = connection
        self._response = connection.getresponse()

    def lines(self) -> Iterator[bytes]:
        """The documents as they come; ends when `stop` is called, from another thread."""
        try:
            yield from self._response
        except (OSError, http.client.HTTPException, ValueError):
            return
        finally:
            self._response.close()
            self._connection.close()

    def stop(self) -> None:
        """End the reader's wait."""
        if self._connection.sock is not None:
            self._connection.sock.shutdown(socket.SHUT_RDWR)


@contextmanager
def control_plane() -> Iterator[Client]:
    """Start the three programs and stop them at the end, however it comes."""
    folder = Path(tempfile.mkdtemp(prefix="lockgate-truth-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        port, authority = _start(folder, stack)
        client = Client(port, authority)
        stack.callback(client.close)
        _wait_ready(client, folder)
        yield client


def _programs() -> tuple[Path, Path]:
    cache = cache_folder() / "programs"
    cache.mkdir(parents=True, exist_ok=True)
    rows = {row.name: row for row in GO_PROGRAMS}
    with locked(cache / "lock", say_on_stderr):
        version = golang.version()
        kubernetes = golang.ensure(rows["kubernetes"], cache, version, say_on_stderr)
        return kubernetes, golang.ensure(rows["etcd"], cache, version, say_on_stderr)


def _start(folder: Path, stack: ExitStack) -> tuple[int, str]:
    kubernetes, etcd = _programs()
    authority = pki.make_authority("truth")
    api, client, peer = _free_ports(3)
    _write_files(folder, authority, api)
    _run(stack, folder, etcd / "etcd", _etcd_flags(folder, client, peer))
    _run(stack, folder, kubernetes / "kube-apiserver", _api_flags(folder, api, client))
    _run(stack, folder, kubernetes / "kube-scheduler", {"config": folder / "scheduler.json", "secure-port": 0})
    return api, authority.pem


def _write_files(folder: Path, authority: pki.Authority, api: int) -> None:
    server = authority.issue("kube-apiserver", (), ("127.0.0.1", "localhost"))
    (folder / "server.crt").write_text(server.certificate)
    (folder / "server.key").write_text(server.key)
    (folder / "ca.crt").write_text(authority.pem)
    (folder / "token.key").write_text(pki.make_token_key())
    (folder / "tokens.csv").write_text(f"{_TOKEN},truth,truth,system:masters\n")
    user = authority.issue("system:kube-scheduler", ("system:masters",))
    (folder / "scheduler.conf").write_text(pki.kubeconfig(f"https://127.0.0.1:{api}", authority, user))
    connection = {"kubeconfig": str(folder / "scheduler.conf"), "qps": 5000, "burst": 5000}
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": connection,
        "leaderElection": {"leaderElect": False},
    }
    (folder / "scheduler.json").write_text(json.dumps(config))


def _etcd_flags(folder: Path, client: int, peer: int) -> dict[str, object]:
    return {
        "data-dir": folder / "etcd",
        "listen-client-urls": f"http://127.0.0.1:{client}",
        "advertise-client-urls": f"http://127.0.0.1:{client}",
        "listen-peer-urls": f"http://127.0.0.1:{peer}",
        "unsafe-no-fsync": "true",
        "log-level": "error",
    }


def _api_flags(folder: Path, api: int, etcd: int) -> dict[str, object]:
    return {
        "bind-address": "127.0.0.1",
        "secure-port": api,
        "etcd-servers": f"http://127.0.0.1:{etcd}",
        "tls-cert-file": folder / "server.crt",
        "tls-private-key-file": folder / "server.key",
        "client-ca-file": folder / "ca.crt",
        "token-auth-file": folder / "tokens.csv",
        "authorization-mode": "AlwaysAllow",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": folder / "token.key",
        "service-account-signing-key-file": folder / "token.key",
        "service-cluster-ip-range": "10.96.0.0/24",
        # No controller makes service accounts, and none would take the not-ready taint off again.
        "disable-admission-plugins": "ServiceAccount,TaintNodesByCondition",
        "max-mutating-requests-inflight": 1000,
        "endpoint-reconciler-type": "none",
    }


def _run(stack: ExitStack, folder: Path, program: Path, flags: dict[str, object]) -> None:
    command = [str(program), *(f"--{name}={value}" for name, value in flags.items())]
    log = stack.enter_context((folder / f"{program.name}.log").open("wb"))
    process = spawn(command, log, dict(os.environ))
    stack.callback(_stop, process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def _wait_ready(client: Client, folder: Path) -> None:
    until = time.monotonic() + _READY_WITHIN
    while time.monotonic() < until:
        try:
            if client.request("GET", "/readyz")[0] == 200:
                return
        except OSError:
            pass
        time.sleep(0.2)
    logs = "\n".join(f"{log.name}: {log.read_text()[-1500:]}" for log in sorted(folder.glob("*.log")))
    raise TimeoutError(f"the API server was not ready within {_READY_WITHIN:.0f} s\n{logs}")


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
