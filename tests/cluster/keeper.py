"""The process that owns a cluster: it starts everything, and when its owner is gone it removes everything.

The test's process holds the other end of this one's stdin. However that process ends (normally, by Ctrl-C, by
`kill -9`), the pipe closes and the keeper cleans up. It is in a session of its own, so Ctrl-C does not reach it. Should
the keeper itself be killed, every process dies with it (PR_SET_PDEATHSIG), and the next keeper removes the folders and
cgroups that were left (`sweep`).

`python -m tests.cluster.keeper` reads a Spec as one JSON line and answers Started or Failed as one.
"""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import NoReturn

import msgspec

from tests.cluster import addresses, cgroups, images, pki, processes
from tests.cluster.api import Api
from tests.cluster.control_plan import control_files, control_plan
from tests.cluster.gpus import simulated_gpus
from tests.cluster.identities import make_identities
from tests.cluster.leftovers import PREFIX, make_held, remove, sweep
from tests.cluster.node_plan import node_plan
from tests.cluster.processes import inside
from tests.cluster.programs import Programs
from tests.cluster.repository import REPOSITORY, python_environment, python_module
from tests.cluster.spec import ControlPlan, Failed, NodePlan, Spec, Started
from tests.cluster.supervisor_client import Supervisor

_IMPORT = """
until ctr version >/dev/null 2>&1; do sleep 0.1; done
for tar; do ctr -n k8s.io image import "$tar"; done
"""
_READY_WITHIN = 180.0  # seconds for the API server on a busy machine


class Keeper:
    """One cluster's processes, folder and cgroups."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._programs = Programs({name: Path(path) for name, path in spec.programs.items()})
        self._name = f"{PREFIX}{secrets.token_hex(3)}"
        self._folder = Path(spec.base) / self._name
        self._processes: list[subprocess.Popen[bytes]] = []
        self._inits: dict[str, subprocess.Popen[bytes]] = {}
        self._identities = make_identities()

    def start(self) -> Started:
        """Start every process and return when the API server is ready and each kubelet has been started."""
        make_held(self._folder)
        cgroups.make(self._name, [node.name for node in self._spec.nodes])
        control = self._start_control()
        nodes = {node.name: self._start_node(index) for index, node in enumerate(self._spec.nodes)}
        for name, pid in nodes.items():
            plug_in(control, name, pid)
        port = self._start_relay(control)
        self._import_images(nodes)
        self._wait_until_ready(port)
        for folder, names in self._late_programs():
            for name in names:
                Supervisor(folder / "supervisor.sock").start(name)
        return Started(folder=str(self._folder), port=port, control=control, nodes=nodes)

    def end(self) -> None:
        """Kill every process, wait until the namespaces are gone, remove cgroups and folder."""
        for process in reversed(self._processes):
            processes.end(process)
        cgroups.remove(self._name)
        remove(self._folder)

    def last_words(self, lines: int = 5) -> str:
        """The ends of all logs, for the one who asks why the cluster did not start."""
        text = ""
        for log in sorted(self._folder.rglob("*.log")):
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
            text += f"--- {log.relative_to(self._folder)}\n{tail}\n" if tail else ""
        return text

    def _start_control(self) -> int:
        folder = self._folder / "control"
        folder.mkdir()
        for name, text in control_files(self._identities).items():
            (folder / name).write_text(text)
        return self._unshare(folder, control_plan(folder, len(self._spec.nodes), self._programs))

    def _start_node(self, index: int) -> int:
        node = self._spec.nodes[index]
        folder = self._folder / "nodes" / node.name
        folder.mkdir(parents=True)
        cache = Path(self._spec.cache)
        planned = node_plan(
            node,
            index,
            len(self._spec.nodes),
            cluster=self._name,
            folder=folder,
            programs=self._programs,
            identities=self._identities,
            gpus=simulated_gpus(node, folder, cache) if node.gpus else None,
            visible=(REPOSITORY, cache, Path(sys.prefix), Path(sys.base_prefix)),
        )
        return self._unshare(folder, planned)

    def _unshare(self, folder: Path, what: ControlPlan | NodePlan) -> int:
        (folder / "plan.json").write_bytes(msgspec.json.encode(what))
        command = [*processes.NEW_NAMESPACES, *python_module("tests.cluster.init"), str(folder / "plan.json")]
        self._inits[what.hostname] = self._spawn(command, folder / "init.log")
        return processes.only_child(self._inits[what.hostname])

    def _start_relay(self, control: int) -> int:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            far = (addresses.CONTROL, str(addresses.API_PORT))
            module = python_module("tests.cluster.relay")
            command = ["nsenter", "--target", str(control), "--net", *module, str(listener.fileno()), *far]
            self._spawn(command, self._folder / "relay.log", (listener.fileno(),))
            port: int = listener.getsockname()[1]
        return port

    def _spawn(self, command: list[str], log: Path, fds: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
        with log.open("ab") as output:
            process = processes.spawn(command, output, os.environ | python_environment(), fds)
        self._processes.append(process)
        return process

    def _import_images(self, nodes: dict[str, int]) -> None:
        cache = Path(self._spec.cache)
        tars = [images.build_pause_image(cache), images.build_test_image(cache, self._programs)]
        importing = []
        for name, pid in nodes.items():
            wait_for_supervisor(self._folder / "nodes" / name, self._inits[name])
            command = [*inside(pid), "sh", "-ec", _IMPORT, "sh", *(str(tar) for tar in tars)]
            importing.append(self._spawn(command, self._folder / "nodes" / name / "import.log"))
        for process in importing:
            if process.wait(timeout=300) != 0:
                raise RuntimeError("an image could not be imported, see import.log")
            self._processes.remove(process)

    def _wait_until_ready(self, port: int) -> None:
        address = f"https://127.0.0.1:{port}"
        admin = self._identities.authority.issue("admin", ("system:masters",))
        config = self._folder / "kubeconfig"
        config.write_text(pki.kubeconfig(address, self._identities.authority, admin))
        Api(config).wait_ready(_READY_WITHIN)

    def _late_programs(self) -> list[tuple[Path, tuple[str, ...]]]:
        nodes = [(self._folder / "nodes" / node.name, ("kubelet", "kube-proxy")) for node in self._spec.nodes]
        return [(self._folder / "control", ("kube-controller-manager", "kube-scheduler")), *nodes]


def plug_in(control: int, name: str, node: int) -> None:
    """Connect a node's namespace to the control plane's bridge with a pair of virtual interfaces."""
    cable = f"v{name[-12:]}"
    lines = f"link add {cable} type veth peer name eth0 netns {node}\nlink set {cable} master br0 up\n"
    network = ["nsenter", "--target", str(control), "--net"]
    wait = "until ip link show br0 >/dev/null 2>&1; do sleep 0.02; done"
    subprocess.run([*network, "timeout", "120", "sh", "-c", wait], check=True)
    subprocess.run([*network, "ip", "-batch", "-"], input=lines, text=True, check=True)


def wait_for_supervisor(folder: Path, init: subprocess.Popen[bytes], timeout: float = 120.0) -> None:
    """Wait until a namespace is laid out and its supervisor listens; RuntimeError holds init's log when it does not."""
    until = time.monotonic() + timeout
    while not (folder / "supervisor.sock").exists():
        if time.monotonic() > until or init.poll() is not None:
            raise RuntimeError(f"{folder.name} was not laid out:\n{(folder / 'init.log').read_text()[-2000:]}")
        time.sleep(0.02)


def main() -> NoReturn:
    """Start a cluster for the process at the other end of stdin, and end it when that one is gone."""
    line = sys.stdin.buffer.readline()
    spec = msgspec.json.decode(line, type=Spec)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    threading.Thread(target=_end_with_owner, daemon=True).start()
    keeper = Keeper(spec)
    try:
        sweep(Path(spec.base))
        _say(keeper.start())
        while True:
            signal.pause()
    except Exception as error:  # noqa: BLE001 - whatever stopped the start is told to the owner with its traceback
        _say(Failed(message=f"{error}\n{traceback.format_exc()}{keeper.last_words()}"))
        sys.exit(1)
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        keeper.end()


def _end_with_owner() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


def _say(message: Started | Failed) -> None:
    with contextlib.suppress(OSError):  # the owner may be gone already
        sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
