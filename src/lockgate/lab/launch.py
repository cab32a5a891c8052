"""A simulated GPU machine in a folder, for tests without root: driver root, device files, and a simulator.

with simulated_machine(folder, cache, gpus="2xA100-40GB") as machine:
    subprocess.run([machine.nvidia_smi, "-L"], env=machine.environment)
    machine.control.lose(1)
"""

import asyncio
import contextlib
import os
import queue
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from lockgate.lab.boards import parse_boards
from lockgate.lab.control import Control
from lockgate.lab.driver.build import LIBRARY_FOLDER, PROGRAM_FOLDER, SOCKET, build_driver_root
from lockgate.lab.driver.nodes import device_nodes
from lockgate.lab.machine import Machine
from lockgate.lab.simulator import serving
from lockgate.lab.state import DRIVER_VERSION, new_driver


class SimulatedMachine:
    """Where the parts of a simulated machine are, and the means to drive it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.dev = folder / "dev"
        self.socket = self.root / SOCKET
        self.control = Control(self.socket)
        self.libraries = self.root / LIBRARY_FOLDER
        self.libnvidia_ml = self.libraries / "libnvidia-ml.so.1"
        self.nvidia_smi = self.root / PROGRAM_FOLDER / "nvidia-smi"
        self.cuda_vectoradd = self.root / PROGRAM_FOLDER / "cuda-vectoradd"

    @property
    def variables(self) -> dict[str, str]:
        """What the driver's libraries need to know: where devices and simulator are."""
        return {"LOCKGATE_SIMULATOR_DEV": str(self.dev), "LOCKGATE_SIMULATOR_SOCKET": str(self.socket)}

    @property
    def environment(self) -> dict[str, str]:
        """This process's environment with those variables and the driver's library path."""
        return {**os.environ, **self.variables, "LD_LIBRARY_PATH": str(self.libraries)}

    def show_devices(self, minors: tuple[int, ...]) -> None:
        """Let a process see these GPUs and the control devices, as a container that was given them."""
        wanted = {f"nvidia{minor}" for minor in minors} | {Path(node.path).name for node in device_nodes(0)}
        self.dev.mkdir(parents=True, exist_ok=True)
        for name in wanted:
            (self.dev / name).touch()
        for path in self.dev.iterdir():
            if path.name not in wanted:
                path.unlink()


@contextlib.contextmanager
def simulated_machine(
    folder: Path,
    cache: Path,
    gpus: str = "2xA100-SXM4-40GB",
    seed: str = "node",
    driver_version: str = DRIVER_VERSION,
) -> Iterator[SimulatedMachine]:
    """Build, start and in the end stop a machine with these boards; its socket's path must fit in 107 bytes, for C."""
    machine = SimulatedMachine(folder)
    build_driver_root(machine.root, cache)
    machine.show_devices(tuple(range(len(parse_boards(gpus)))))
    with simulator_thread(machine.socket, Machine(new_driver(parse_boards(gpus), seed, driver_version))):
        yield machine


@contextlib.contextmanager
def simulator_thread(socket: Path, machine: Machine) -> Iterator[None]:
    """A simulator in a thread of this process, which starts in milliseconds."""
    ready: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()

    async def serve() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        async with serving(machine, socket):
            ready.put(lambda: loop.call_soon_threadsafe(stop.set))
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    stop_serving = ready.get(timeout=10)
    try:
        yield
    finally:
        stop_serving()
        thread.join()


@contextlib.contextmanager
def running_simulator(socket: Path, options: list[str]) -> Iterator[None]:
    """A simulator process that answers on the socket while the context lasts; RuntimeError when it does not start."""
    command = [sys.executable, "-m", "lockgate.lab.simulator", "--socket", str(socket), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            said = process.stdout.readline() if process.stdout else ""
            if not said.startswith("serving on"):
                raise RuntimeError(f"the simulator did not start: {shlex.join(command)}")
            yield
        finally:
            process.terminate()
