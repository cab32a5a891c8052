"""The libraries stay within their memory, whatever a program asks and whatever the simulator answers."""

import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from lockgate.lab.driver.build import PRODUCTS, SOURCES, Product, compile_product
from lockgate.lab.launch import SimulatedMachine
from tests.lab.liar import lying_on

STORM = Path(__file__).with_name("storm.c")
LIBRARIES = {product.name: product.sources for product in PRODUCTS if product.library}


@pytest.fixture(scope="module", params=["address,undefined", "thread"])
def storm(cache: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The test program, the sources of both libraries within, compiled with sanitizers."""
    program = tmp_path_factory.mktemp("storm") / "storm"
    sources = sorted({*LIBRARIES["libnvidia-ml.so.1"], *LIBRARIES["libcuda.so.1"]})
    sanitize = ("-g", "-O1", f"-fsanitize={request.param}", "-fno-sanitize-recover=all", "-DCALL_TIMEOUT_MS=300")
    try:
        compile_product(Product("storm", (*sources, str(STORM)), ()), program, extra=(*sanitize, f"-I{SOURCES}"))
    except subprocess.CalledProcessError as error:
        if "cannot find -l" in error.stderr or "lib" + request.param.split(",")[0] in error.stderr:
            pytest.skip(f"gcc has no runtime for -fsanitize={request.param} here")
        raise AssertionError(error.stderr) from error
    return program


def _run(program: Path, environment: dict[str, str], rounds: int) -> int:
    """How many calls succeeded; the sanitizers' words are the failure."""
    done = subprocess.run(
        [program, str(rounds)], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("gcc's thread sanitizer does not know this kernel's address space")
    assert done.returncode == 0, done.stderr
    found = re.fullmatch(r"(\d+) calls succeeded\n", done.stdout)
    assert found is not None, done.stdout
    return int(found[1])


@pytest.mark.parametrize("machine", ["A100-40GB,H100-80GB", "T4"], indirect=True)
def test_the_libraries_hold_against_every_call(storm: Path, machine: SimulatedMachine) -> None:
    assert _run(storm, machine.variables, 2) > 1000


@pytest.mark.parametrize("seed", range(3))
def test_the_libraries_hold_against_a_lying_simulator(
    storm: Path, short_path: Path, machine: SimulatedMachine, seed: int
) -> None:
    path = short_path / "liar"
    with lying_on(path, seed):
        assert _run(storm, {**machine.variables, "LOCKGATE_SIMULATOR_SOCKET": str(path)}, 2) > 300


@pytest.fixture(scope="module")
def sanitized_smi(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """nvidia-smi compiled with sanitizers."""
    program = tmp_path_factory.mktemp("smi") / "nvidia-smi"
    (product,) = (product for product in PRODUCTS if product.name == "nvidia-smi")
    compile_product(product, program, extra=("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"))
    return program


@pytest.mark.parametrize(
    "arguments",
    [
        ("-L",),
        (),
        ("-q",),
        ("--query-gpu=name,uuid,fabric.state,compute_mode,pci.bus_id,pstate", "--format=csv"),
        ("--query-compute-apps=gpu_name,pid,name,used_memory", "--format=csv,nounits"),
    ],
    ids=lambda arguments: (arguments or ("table",))[0],
)
def test_nvidia_smi_holds_against_a_lying_simulator(
    sanitized_smi: Path, short_path: Path, machine: SimulatedMachine, arguments: tuple[str, ...]
) -> None:
    path = short_path / "liar"
    environment = {**machine.environment, "LOCKGATE_SIMULATOR_SOCKET": str(path)}
    for seed in range(4):
        with lying_on(path, seed):
            command = [sanitized_smi, *arguments]
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, errors="replace", timeout=60
            )
        assert done.stderr == ""
        assert done.returncode >= 0
        path.unlink()


@pytest.mark.parametrize("greeting", [b"", b"\n", b"0 0\n", b"-1\n", b"99999999999\n", b"'\n", b"\x00\n", b"0"])
def test_a_strange_greeting_is_no_driver(short_path: Path, machine: SimulatedMachine, greeting: bytes) -> None:
    path = short_path / "strange"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        server.settimeout(10)
        command = [machine.nvidia_smi, "-L"]
        environment = {**machine.environment, "LOCKGATE_SIMULATOR_SOCKET": str(path)}
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
            client, _ = server.accept()
            client.recv(1000)
            client.sendall(greeting)
            client.close()
    assert process.returncode == 9
