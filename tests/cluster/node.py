"""A node of a running cluster: what runs in it, its files, its programs, its GPUs."""

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from lockgate.lab.control import Control
from tests.cluster.node_plan import SIMULATOR_SOCKET, containerd_links
from tests.cluster.processes import inside
from tests.cluster.programs import Programs
from tests.cluster.spec import Node
from tests.cluster.supervisor_client import Supervisor

_CRASH_LOOP = 3  # starts after which a program that ended each time is not waited for any longer


class RunningNode:
    """One node, from the machine's side."""

    def __init__(self, node: Node, pid: int, folder: Path, programs: Programs) -> None:
        self._node = node
        self.name = node.name
        self.containerd = node.containerd
        self.pid = pid
        self.folder = folder
        self.supervisor = Supervisor(folder / "supervisor.sock")
        self._programs = programs

    @property
    def files(self) -> Path:
        """The node's root directory as seen from outside: `node.files / "etc/containerd/config.toml"`."""
        return Path(f"/proc/{self.pid}/root")

    @property
    def gpus(self) -> Control:
        """The node's simulated GPUs: lose one, raise an XID, change a value."""
        if not self._node.gpus:
            raise ValueError(f'node {self.name} has no GPUs; ask for some: Node("{self.name}", gpus="2xA100-40GB")')
        return Control(self.files / SIMULATOR_SOCKET.lstrip("/"))

    def exec(self, command: Sequence[str], check: bool = True, stdin: str | None = None, timeout: float = 180.0) -> str:
        """Run a command in the node as root of it and return its output; raises RuntimeError when it fails."""
        done = subprocess.run(
            [*inside(self.pid), *command],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        if check and done.returncode != 0:
            raise RuntimeError(f"node {self.name}: {' '.join(command)}: exit {done.returncode}\n{done.stderr.strip()}")
        return done.stdout

    def log(self, program: str) -> str:
        """What a program of the node has written since the cluster started."""
        path = self.folder / "log" / f"{program}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def device_lists(self) -> int:
        """How often its kubelet was told devices by a plugin, over all its starts.

        A plugin that has registered is accepted and no more: a pod that comes before its list of devices is refused.
        """
        return self.log("kubelet").count("State pushed for device plugin")

    def refuse_crash_loops(self) -> None:
        """Raise RuntimeError with the end of its log when a program of the node keeps ending."""
        for name, state in self.supervisor.status().items():
            if state.starts > _CRASH_LOOP:
                raise RuntimeError(f"node {self.name}: {name} ended {state.starts - 1} times:\n{self._tail(name)}")

    def _tail(self, program: str, lines: int = 3) -> str:
        return "\n".join(self.log(program).splitlines()[-lines:])

    def import_image(self, tar: Path) -> None:
        """Import an image tar into the node's containerd."""
        with tar.open("rb") as file:
            command = ("ctr", "-n", "k8s.io", "image", "import", "-")
            done = subprocess.run([*inside(self.pid), *command], stdin=file, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"node {self.name}: import of {tar.name} failed: {done.stderr.strip()}")

    def swap_containerd(self, release: str) -> None:
        """Replace the node's containerd by another release family; pods keep running, the configuration stays.

        Raises RuntimeError with the end of containerd's log when it does not come up, for example because it refuses
        the configuration.
        """
        self.supervisor.stop("containerd")
        for path, target in containerd_links(release, self._programs).items():
            self.exec(["ln", "-sfn", target, path])
        self.containerd = release
        self.supervisor.start("containerd")
        self.wait_for_containerd()

    def wait_for_containerd(self, timeout: float = 60.0) -> None:
        """Wait until containerd answers; raises RuntimeError with the end of its log when it keeps ending instead."""
        until, starts = time.monotonic() + timeout, self.supervisor.status()["containerd"].starts
        while not self.exec(["sh", "-c", "ctr version >/dev/null 2>&1 && echo up"], check=False):
            if time.monotonic() > until or self.supervisor.status()["containerd"].starts - starts >= _CRASH_LOOP:
                tail = self._tail("containerd")
                raise RuntimeError(f"node {self.name}: containerd {self.containerd} does not come up:\n{tail}")
            time.sleep(0.1)
