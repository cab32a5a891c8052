"""A real dockerd (Debian's 26.1) in a folder of its own: no bridge, no firewall rules, its own containerd."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from deploy.cache import cache_folder
from lockgate.agents.toolkit.change import Node
from lockgate.agents.toolkit.engines.docker import Docker
from lockgate.apply.service import Service
from lockgate.containerd import Wanted
from lockgate.host.processes import NoServerError, find_server
from tests.cluster.programs import debian
from tests.cluster.programs.build import locked, say_on_stderr
from tests.cluster.programs.table import DebianPrograms

PROGRAM = DebianPrograms(
    name="docker", suite="trixie", packages=("docker.io", "containerd"), outputs=("usr/sbin/dockerd",), version="26."
)


def ready() -> Path:
    """The folder with dockerd and its containerd, fetched first when the cache lacks it."""
    cache = cache_folder() / "programs"
    cache.mkdir(parents=True, exist_ok=True)
    with locked(cache / "lock", say_on_stderr):
        return debian.ensure(PROGRAM, cache, say_on_stderr)


class RealDocker:
    """One daemon; its folder's path must be short, for sockets."""

    def __init__(self, root: Path, *flags: str) -> None:
        self.root, self.config, self.socket = root, root / "daemon.json", root / "s"
        self.flags = flags
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        folder, root = ready(), self.root
        places = (f"--data-root={root}/data", f"--exec-root={root}/exec", f"--pidfile={root}/pid")
        quiet = ("--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver=vfs")
        command = ("dockerd", f"--config-file={self.config}", f"--host=unix://{self.socket}", *places, *quiet)
        path = f"{folder}/usr/bin:{folder}/usr/sbin:{os.environ['PATH']}"
        setpriv = shutil.which("setpriv")
        end_with_the_tests = (setpriv, "--pdeathsig", "TERM") if setpriv else ()
        with (root / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*end_with_the_tests, *command, *self.flags], env=os.environ | {"PATH": path}, stdout=log, stderr=log
            )
        for _ in range(200):
            try:
                find_server(self.socket)
            except NoServerError:
                assert self.process.poll() is None, (root / "log").read_text()
                time.sleep(0.1)
            else:
                return
        raise AssertionError((root / "log").read_text())

    def reload(self) -> None:
        """As `systemctl reload docker` does, and wait until it has."""
        log = self.root / "log"
        before = log.read_text().count("Reloaded configuration")
        os.kill(find_server(self.socket).pid, signal.SIGHUP)
        for _ in range(50):
            if log.read_text().count("Reloaded configuration") > before:
                return
            time.sleep(0.1)
        raise AssertionError(log.read_text())

    def stop(self) -> None:
        """As `systemctl stop` does, so that its containerd ends with it."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(30)
        while (self.root / "data").is_mount():  # bound to itself by each start
            subprocess.run(["umount", self.root / "data"], check=True)


def node_at(root: Path, wanted: Wanted | None = None) -> Node:
    """How the toolkit sees the daemon of a folder."""
    config, record = root / "daemon.json", root / "install/daemon.before"
    record.parent.mkdir(exist_ok=True)
    return Node(
        host=Path("/"),
        config=str(config),
        drop_in=str(record),
        socket=str(root / "s"),
        here={str(config): config, str(record): record},
        journal=root / "install/journal.json",
        service=Service(name="docker", socket=root / "s", reloads=True, host=Path("/")),
        wanted=wanted or Wanted(),
        settles_within=5.0,
        engine=Docker(),
    )
