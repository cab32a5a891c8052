"""A simulated node for the agents: driver root, simulator, device nodes, sysfs, folders. Needs gcc, and no root."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate.lab.control import Control
from lockgate.lab.driver import MissingCompilerError, build_driver_root, write_sysfs

# The kernel ends the simulator with the tests, however they end. Not by preexec_fn: that forks, and a fork can hang
# where gRPC has threads.
_SETPRIV = shutil.which("setpriv")
_END_WITH_THE_TESTS = (_SETPRIV, "--pdeathsig", "KILL") if _SETPRIV else ()
_CACHE = Path(tempfile.gettempdir(), f"lockgate-test-driver-{os.getuid()}")


class Machine:
    def __init__(self, folder: Path, gpus: str) -> None:
        self.folder = folder
        self.root = folder / "root"
        self.kubelet = folder / "plugins"
        self.cdi = folder / "cdi"
        self.dev = folder / "dev"
        self.features = folder / "features.d"
        for made in (self.kubelet, self.cdi, self.dev, self.features):
            made.mkdir()
        build_driver_root(self.root, _CACHE)
        self.socket = self.root / "run/nvidia-persistenced/socket"
        self.control = Control(self.socket)
        simulator = ("-m", "lockgate.lab.simulator")
        self._simulator = subprocess.Popen(
            [*_END_WITH_THE_TESTS, sys.executable, *simulator, "--socket", str(self.socket), "--gpus", gpus],
            stdout=subprocess.DEVNULL,
        )
        try:
            self._wait_for_answer()
        except BaseException:
            self.close()
            raise
        write_sysfs(folder / "sys/bus/pci/devices", self.control.gpus())
        for name in ("nvidiactl", "nvidia-uvm", *(f"nvidia{gpu.minor}" for gpu in self.control.gpus())):
            (self.dev / name).touch()

    def _wait_for_answer(self, timeout: float = 20.0) -> None:
        """The socket's file is there a moment before anyone listens on it."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                self.control.state()
            except (FileNotFoundError, ConnectionRefusedError):
                assert time.monotonic() < deadline, f"the simulator does not answer within {timeout} s"
                time.sleep(0.02)
            else:
                return

    @property
    def uuids(self) -> list[str]:
        return [gpu.uuid for gpu in self.control.gpus()]

    def upgrade_driver(self, version: str) -> None:
        """As a driver container of another version leaves it: other libraries, and a kernel module to match."""
        for old in (self.root / "usr/lib/x86_64-linux-gnu").glob("*.so.*.*"):
            old.unlink()
        build_driver_root(self.root, _CACHE, version)
        self.control.load_driver(version)

    @property
    def environment(self) -> dict[str, str]:
        """What the DaemonSet of an agent would set, in this machine's folders."""
        inherited = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "HOME")}
        return inherited | {
            "LOCKGATE_SIMULATOR_DEV": str(self.dev),
            "NVIDIA_DRIVER_ROOT": "/run/nvidia/driver",
            "DRIVER_ROOT_CTR_PATH": str(self.root),
            "NVIDIA_DEV_ROOT": "/",
            "DEV_ROOT_CTR_PATH": str(self.folder),
            "KUBELET_SOCKET": str(self.kubelet / "kubelet.sock"),
            "CDI_ROOT": str(self.cdi),
            "SYS_ROOT": str(self.folder / "sys"),
            "DEVICE_LIST_STRATEGY": "cdi-cri",
            "DP_LOOK_INTERVAL": "250ms",
            "GFD_OUTPUT_FILE": str(self.features / "gfd"),
            "GFD_MACHINE_TYPE_FILE": str(self.folder / "machine"),
            "GFD_SLEEP_INTERVAL": "100ms",
        }

    def close(self) -> None:
        self._simulator.terminate()
        self._simulator.wait(10)


@contextlib.contextmanager
def machine(gpus: str = "2xA100-SXM4-40GB") -> Iterator[Machine]:
    """Short paths, since a socket's may have 107 characters; skips the test where there is no compiler."""
    folder = Path(tempfile.mkdtemp(prefix="lockgate-"))
    try:
        made = Machine(folder, gpus)
    except MissingCompilerError as error:
        shutil.rmtree(folder)
        pytest.skip(str(error))
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(folder)
