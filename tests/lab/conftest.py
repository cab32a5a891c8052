"""A simulated machine for each test that asks for one, compiled once for all."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from deploy.cache import cache_folder
from lockgate.lab.launch import SimulatedMachine, simulated_machine


@pytest.fixture(scope="session")
def cache() -> Path:
    """Compiled drivers, kept from run to run by the content of their sources."""
    if shutil.which("gcc") is None:
        pytest.skip("the simulated driver is compiled with gcc, and there is none on PATH")
    return cache_folder()


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's name: 107 bytes are all there are."""
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        yield Path(folder)


@pytest.fixture
def machine(short_path: Path, cache: Path, request: pytest.FixtureRequest) -> Iterator[SimulatedMachine]:
    """Two A100 with 40 GB, or what `@pytest.mark.parametrize("machine", [...], indirect=True)` says."""
    gpus = getattr(request, "param", "2xA100-SXM4-40GB")
    with simulated_machine(short_path, cache, gpus=gpus) as running:
        yield running


@pytest.fixture
def load_nvml(machine: SimulatedMachine, monkeypatch: pytest.MonkeyPatch) -> Callable[[], ModuleType]:
    """nvidia-ml-py with the machine's library in place of the system's, not yet initialised."""
    pynvml = pytest.importorskip("pynvml")
    for name, value in machine.variables.items():
        monkeypatch.setenv(name, value)

    def load() -> ModuleType:
        import ctypes

        monkeypatch.setattr(pynvml, "nvmlLib", ctypes.CDLL(str(machine.libnvidia_ml)))
        monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
        return pynvml

    return load


@pytest.fixture
def nvml(load_nvml: Callable[[], ModuleType]) -> Iterator[ModuleType]:
    """nvidia-ml-py, initialised."""
    pynvml = load_nvml()
    pynvml.nvmlInit()
    yield pynvml
    pynvml.nvmlShutdown()
