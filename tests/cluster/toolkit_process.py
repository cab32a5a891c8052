"""The toolkit's agent as a process of a node: run it, kill it at a point, and look at what it leaves."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from lockgate.host.cri import Loaded, UnreachableError, ask_loaded
from tests.cluster.node import RunningNode
from tests.cluster.processes import inside
from tests.cluster.repository import REPOSITORY
from tests.cluster.toolkit_worker import Ended, Run

CONFIG = "etc/containerd/config.toml"
DROP_IN = "etc/containerd/conf.d/99-nvidia.toml"
ENVIRON = {
    "HOST_ROOT_MOUNT": "/",
    "CDI_ENABLED": "true",
    "NVIDIA_DRIVER_ROOT": "/run/nvidia/driver",
    "DRIVER_ROOT_CTR_PATH": "/run/nvidia/driver",
}
Files = tuple[bytes | None, bytes | None]
"""The top-level file and our drop-in; None where there is none."""


class Toolkit:
    """The agent on one node, without a pod around it; a context, since a process stands by in the node."""

    def __init__(self, node: RunningNode, environ: Mapping[str, str] | None = None) -> None:
        self.node = node
        self._environ = {**ENVIRON, **(environ or {})}
        path = os.pathsep.join((str(REPOSITORY / "src"), str(REPOSITORY)))
        command = [*inside(node.pid), "env", f"PYTHONPATH={path}", sys.executable, "-m", "tests.cluster.toolkit_worker"]
        with (node.folder / "log/toolkit.log").open("ab") as log:
            self._worker = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, bufsize=1
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._worker.communicate()  # closes its input, which ends it

    def run(self, do: str, **fields: object) -> Ended:
        """One run of the agent, waited for; see `toolkit_worker.Run`."""
        assert self._worker.stdin
        assert self._worker.stdout
        environ = self._environ | fields.pop("environ", {})  # type: ignore[operator]
        request = Run(do=do, environ=environ, **fields)  # type: ignore[arg-type]
        self._worker.stdin.write(msgspec.json.encode(request).decode() + "\n")
        ended = msgspec.json.decode(self._worker.stdout.readline(), type=Ended)
        assert not ended.error, (ended, self.node.log("toolkit"))
        return ended

    def loaded(self, timeout: float = 60.0) -> Loaded:
        """What the node's containerd has loaded, once it answers."""
        until = time.monotonic() + timeout
        while True:
            try:
                return asyncio.run(ask_loaded(self.node.files / "run/containerd/containerd.sock"))
            except UnreachableError as error:
                if time.monotonic() > until:
                    raise AssertionError(f"containerd of {self.node.name} does not answer: {error}") from error
                time.sleep(0.1)

    def handlers(self) -> set[str]:
        """The names of the handlers that are loaded."""
        return set(self.loaded().containerd.runtimes)

    def files(self) -> Files:
        """What the node has of them now."""
        return _read(self.node.files / CONFIG), _read(self.node.files / DROP_IN)

    def leftovers(self) -> list[str]:
        """Temporary files and journals in the folders that the toolkit writes to."""
        folders = ("etc/containerd", "run/cdi", "usr/local/nvidia")
        return [str(path) for folder in folders for path in (self.node.files / folder).rglob(".lockgate-*")]

    @property
    def journal(self) -> Path:
        """Where an unfinished change is remembered."""
        return self.node.files / "usr/local/nvidia/toolkit/.lockgate/journal.json"


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None
