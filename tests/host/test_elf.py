import random
import shutil
import subprocess
from pathlib import Path

import pytest

from lockgate.host.elf import Elf, read_elf
from tests.host.elf_files import MACHINES, shared_library


@pytest.mark.parametrize("machine", MACHINES)
def test_machine_and_soname_of_each_kind(tmp_path: Path, machine: str) -> None:
    path = tmp_path / "libcuda.so.580.95.05"
    path.write_bytes(shared_library("libcuda.so.1", machine))
    assert read_elf(path) == Elf(machine, "libcuda.so.1")


def test_a_library_without_a_soname(tmp_path: Path) -> None:
    path = tmp_path / "libx.so"
    path.write_bytes(shared_library(""))
    assert read_elf(path) == Elf("x86_64-linux-gnu", "")


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"#!/bin/sh\n" * 100, b"\x7fELF\x02\x01" + b"\xff" * 500])
def test_what_is_no_elf_file_is_no_library(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "libx.so"
    path.write_bytes(content)
    assert read_elf(path) is None


def test_a_damaged_library_never_raises(tmp_path: Path) -> None:
    good, rng = shared_library("libcuda.so.1"), random.Random(7)
    path = tmp_path / "libx.so"
    for _ in range(500):
        damaged = bytearray(good[: rng.randrange(len(good))] if rng.random() < 0.3 else good)
        for _ in range(rng.randrange(6)):
            if damaged:
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        read_elf(path)


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_a_library_that_gcc_made(tmp_path: Path) -> None:
    path = tmp_path / "libnvidia-ml.so.580.95.05"
    command = ["gcc", "-shared", "-o", str(path), "-Wl,-soname,libnvidia-ml.so.1", "-x", "c", "/dev/null"]
    subprocess.run(command, check=True)
    found = read_elf(path)
    assert found is not None
    assert found.soname == "libnvidia-ml.so.1"
