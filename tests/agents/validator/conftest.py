"""A simulated machine whose driver root the validator looks at."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.cache import cache_folder
from lockgate.lab.launch import SimulatedMachine, simulated_machine


@pytest.fixture(scope="session")
def cache() -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("the simulated driver is compiled with gcc, and there is none on PATH")
    return cache_folder()


@pytest.fixture
def machine(cache: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[SimulatedMachine]:
    """Two A100, or what the test's parameter says; visible to this process and those that it starts."""
    gpus = getattr(request, "param", "2xA100-40GB")
    with (
        tempfile.TemporaryDirectory(prefix="val-") as folder,
        simulated_machine(Path(folder), cache, gpus=gpus) as running,
    ):
        for name, value in running.variables.items():
            monkeypatch.setenv(name, value)
        yield running
