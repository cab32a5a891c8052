"""A container runtime under a small service manager, in a folder of its own: for tests of what is done to it.

The runtime is a stand-in that reads its files with `lockgate.containerd` and answers CRI as containerd does, or a real
containerd where the test has one.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lockgate.agents.toolkit.change import Node
from lockgate.apply.service import Service
from lockgate.containerd import Wanted
from lockgate.host.processes import NoServerError, Process, find_server

_LOOP = """
import signal, subprocess, sys, time
child = None
def end(*_):
    if child: child.kill()
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
while True:
    child = subprocess.Popen(sys.argv[1:])
    child.wait()
    time.sleep(0.1)
"""


@dataclass
class Runtime:
    """One node: `etc/config.toml`, `etc/conf.d`, the socket, and whoever serves it."""

    root: Path
    command: Sequence[str]
    manager: subprocess.Popen[bytes] | None = None

    @property
    def config(self) -> Path:
        return self.root / "etc/config.toml"

    @property
    def drop_in(self) -> Path:
        return self.root / "etc/conf.d/99-nvidia.toml"

    @property
    def socket(self) -> Path:
        return self.root / "run/c.sock"

    @property
    def journal(self) -> Path:
        return self.root / "install/journal.json"

    def start(self) -> Process:
        """Start the service manager, and the runtime by it; returns the runtime's process once it serves."""
        for folder in ("etc/conf.d", "run", "install"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        log = (self.root / "log").open("ab")
        self.manager = subprocess.Popen([sys.executable, "-c", _LOOP, *self.command], stdout=log, stderr=log)
        log.close()
        return self.server()

    def stop(self) -> None:
        if self.manager:
            self.manager.terminate()
            self.manager.wait()

    def server(self) -> Process:
        """The process that serves the socket, waited for."""
        for _ in range(150):
            try:
                return find_server(self.socket)
            except NoServerError:
                time.sleep(0.1)
        raise AssertionError(f"nobody serves {self.socket}: {(self.root / 'log').read_text()[-2000:]}")

    def restart_by_hand(self) -> None:
        """What an administrator does: systemctl restart containerd."""
        before = self.server()
        os.kill(before.pid, signal.SIGHUP)
        for _ in range(100):
            if self.server() != before:
                return
            time.sleep(0.1)
        raise AssertionError("the runtime has not restarted")

    def node(self, **fields: object) -> Node:
        """How the toolkit sees it."""
        config, drop_in = str(self.config), str(self.drop_in)
        service = Service(socket=self.socket, host=Path("/"), ends_within=3.0, back_within=5.0)
        values: dict[str, object] = {
            "host": Path("/"),
            "config": config,
            "drop_in": drop_in,
            "socket": str(self.socket),
            "here": {config: self.config, drop_in: self.drop_in},
            "journal": self.journal,
            "service": service,
            "wanted": Wanted(),
            "settles_within": 5.0,
        }
        return Node(**{**values, **fields})  # type: ignore[arg-type]


def stand_in(root: Path, release: str) -> Runtime:
    """A runtime of some release that is none: see `fake_containerd`."""
    script = Path(__file__).with_name("fake_containerd.py")
    return Runtime(root, [sys.executable, str(script), str(root), release])


_KILLED = """
import asyncio, importlib, os, signal, sys
from pathlib import Path
from lockgate.agents.toolkit.change import configure, remove

def at(point, left=[int(sys.argv[3])], before=[""]):
    if point == before[0]:
        return  # one more look while waiting
    before[0] = point
    print(point, flush=True)
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)

module, _, name = sys.argv[4].partition(":")
node = getattr(importlib.import_module(module), name)(Path(sys.argv[1]))
asyncio.run({"configure": configure, "remove": remove}[sys.argv[2]](node, checkpoint=at))
"""


def node_at(root: Path) -> Node:
    """The node of a stand-in in this folder."""
    return stand_in(root, "").node()


def killed_at(
    root: Path, what: str, point: int, node: str = "tests.agents.toolkit.supervised:node_at"
) -> tuple[bool, list[str]]:
    """Whether a run was killed at its n-th point, and the points that it reached; each wait is one point.

    `node` is the function that makes the node of the folder, as `module:name`.
    """
    command = [sys.executable, "-c", _KILLED, str(root), what, str(point), node]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, cwd=Path(__file__).parents[3])
    assert ended.returncode in (0, -signal.SIGKILL)
    return ended.returncode != 0, ended.stdout.splitlines()
