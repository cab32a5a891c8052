"""A real Kubernetes on this machine, for the time of a `with` block."""

import contextlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

import msgspec

from deploy.cache import cache_folder
from lockgate.lab.boards import parse_boards
from tests.cluster import bundle, pki, programs
from tests.cluster.api import Api
from tests.cluster.node import RunningNode
from tests.cluster.programs.table import CONTAINERD
from tests.cluster.repository import REPOSITORY, python_module
from tests.cluster.spec import Failed, Node, Spec, Started

_READY_WITHIN = 240.0  # seconds after the API server is ready, on a machine that is busy with other things
_GONE_WITHIN = 240.0  # its folder has tens of thousands of files


class ClusterError(Exception):
    """The cluster did not start, or a command in it failed; the text says which and why."""


class Cluster:
    """etcd, API server, controller manager, scheduler, and the nodes; ready when the block is entered.

    Ready means: every node says Ready and the default service account exists. When the block ends, however it ends,
    nothing of the cluster stays on the machine. When it ends by an exception, a bundle of the cluster is kept first and
    its path said on stderr (not with `keep_bundle` off).
    """

    def __init__(self, nodes: Iterable[Node] = (Node("node-a"), Node("node-b")), *, keep_bundle: bool = True) -> None:
        self._wanted = tuple(nodes)
        self._keep_bundle = keep_bundle
        for node in self._wanted:
            check(node)
        self.nodes: dict[str, RunningNode] = {}
        self.start_seconds = 0.0

    def __enter__(self) -> Self:
        built = programs.ready()
        started = time.monotonic()
        self._keeper = subprocess.Popen(
            python_module("tests.cluster.keeper"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=REPOSITORY,
            start_new_session=True,
        )
        try:
            self._start(built)
            self.wait_for(self._usable, "every node Ready and the default service account", timeout=_READY_WITHIN)
        except BaseException as error:
            self.__exit__(type(error))
            raise
        self.start_seconds = time.monotonic() - started
        print(f"cluster of {len(self.nodes)} nodes ready in {self.start_seconds:.1f} s", file=sys.stderr)
        return self

    def __exit__(self, raised: type[BaseException] | None = None, *_: object) -> None:
        try:
            if self._keep_bundle and self.nodes and raised and issubclass(raised, Exception):
                print(bundle.keep(self, self.folder.name), file=sys.stderr)
        finally:
            self._end()

    def _end(self) -> None:
        assert self._keeper.stdin and self._keeper.stdout
        with contextlib.suppress(BrokenPipeError):  # what was buffered for a keeper that died
            self._keeper.stdin.close()
        try:
            self._keeper.wait(_GONE_WITHIN)
        except subprocess.TimeoutExpired:
            self._keeper.kill()  # its processes die with it; the next cluster's keeper sweeps the rest
            self._keeper.wait()
            raise ClusterError(f"the cluster did not end within {_GONE_WITHIN:.0f} s and was killed") from None
        finally:
            self._keeper.stdout.close()

    @property
    def keeper_pid(self) -> int:
        """The process that owns the cluster and removes it."""
        return self._keeper.pid

    def _start(self, built: programs.Programs) -> None:
        spec = Spec(
            nodes=self._wanted,
            programs={name: str(path) for name, path in built.folders.items()},
            cache=str(cache_folder()),
            base=tempfile.gettempdir(),
        )
        assert self._keeper.stdin and self._keeper.stdout
        self._keeper.stdin.write(msgspec.json.encode(spec) + b"\n")
        self._keeper.stdin.flush()
        line = self._keeper.stdout.readline()
        if not line:
            raise ClusterError(f"the cluster's keeper ended with {self._keeper.wait()}")
        started = msgspec.json.decode(line, type=Started | Failed)
        if isinstance(started, Failed):
            raise ClusterError(started.message)
        self.folder = Path(started.folder)
        self.kubeconfig = self.folder / "kubeconfig"
        self.server = f"https://127.0.0.1:{started.port}"
        self._programs = built
        self._api = Api(self.kubeconfig)
        for node in self._wanted:
            folder = self.folder / "nodes" / node.name
            self.nodes[node.name] = RunningNode(node, started.nodes[node.name], folder, built)

    def _usable(self) -> bool:
        for node in self.nodes.values():
            node.refuse_crash_loops()
        nodes = self._api.get("/api/v1/nodes")["items"]
        conditions = [c for node in nodes for c in node["status"].get("conditions", []) if c["type"] == "Ready"]
        accounts = self._api.get("/api/v1/namespaces/default/serviceaccounts")["items"]
        all_ready = [c["status"] for c in conditions] == ["True"] * len(self.nodes)
        return all_ready and any(account["metadata"]["name"] == "default" for account in accounts)

    def program(self, name: str) -> Path:
        """The file of a program that the cluster was built with: "kubectl", "helm", "etcd"."""
        return self._programs.path(name)

    def kubectl(self, *arguments: str, stdin: str | None = None, check: bool = True, timeout: float = 180.0) -> str:
        """Run kubectl as the cluster's administrator and return its output; raises ClusterError when it fails."""
        command = [str(self.program("kubectl")), "--kubeconfig", str(self.kubeconfig), *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout)
        if check and done.returncode != 0:
            raise ClusterError(f"kubectl {' '.join(arguments)}: exit {done.returncode}\n{done.stderr.strip()}")
        return done.stdout

    def apply(self, yaml: str) -> str:
        """Apply manifests with server-side apply, as a person would."""
        return self.kubectl("apply", "--server-side", "-f", "-", stdin=yaml)

    def wait_for(self, condition: Callable[[], object], what: str, timeout: float = 180.0, every: float = 0.2) -> None:
        """Wait until a condition holds; TimeoutError names `what` was waited for."""
        until = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > until:
                raise TimeoutError(f"not within {timeout:.0f} s: {what}")
            time.sleep(every)

    def kubeconfig_for(self, user: str, groups: Iterable[str] = ()) -> Path:
        """A kubeconfig that logs in as that user, who may do what RBAC rules of the cluster allow and no more."""
        control = self.folder / "control"
        authority = pki.load_authority((control / "ca.key").read_text(), (control / "ca.crt").read_text())
        path = self.folder / f"kubeconfig-{user}"
        path.write_text(pki.kubeconfig(self.server, authority, authority.issue(user, groups)))
        return path

    def save_bundle(self, path: Path) -> Path:
        """Write the cluster down as `kubectl gpu why --from` reads it: a folder, or a tar when `path` ends in .tgz."""
        return bundle.save(self, path)

    def import_image(self, tar: Path, nodes: Iterable[str] = ()) -> None:
        """Import an image tar into the containerd of every node, or of those named."""
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda name: self.nodes[name].import_image(tar), list(nodes) or self.nodes))


def check(node: Node) -> None:
    """Refuse a node that could not be started, before anything is: ValueError says what there is instead."""
    if node.containerd not in CONTAINERD:
        raise ValueError(f'node {node.name}: no containerd "{node.containerd}", there is {", ".join(CONTAINERD)}')
    if not re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,18}[a-z0-9])?", node.name):
        raise ValueError(f'node "{node.name}": expected up to 20 lower-case letters, digits and dashes')
    parse_boards(node.gpus)
