"""nvidia-smi and the CUDA test program say what NVIDIA's say, and end with the same codes."""

import re
import subprocess
import time
from pathlib import Path

import pytest

from lockgate.lab.boards import MIB
from lockgate.lab.launch import SimulatedMachine


def _run(machine: SimulatedMachine, program: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments], env={**machine.environment, **more}, capture_output=True, text=True, timeout=30
    )


def _smi(machine: SimulatedMachine, *arguments: str) -> tuple[int, str]:
    done = _run(machine, machine.nvidia_smi, *arguments)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_the_list_has_a_line_a_gpu(machine: SimulatedMachine) -> None:
    first, second = machine.control.gpus()

    assert _smi(machine, "-L") == (
        0,
        f"GPU 0: NVIDIA A100-SXM4-40GB (UUID: {first.uuid})\nGPU 1: NVIDIA A100-SXM4-40GB (UUID: {second.uuid})\n",
    )


def test_a_container_lists_only_the_gpu_it_was_given(machine: SimulatedMachine) -> None:
    machine.show_devices((1,))

    assert _smi(machine, "-L") == (0, f"GPU 0: NVIDIA A100-SXM4-40GB (UUID: {machine.control.gpus()[1].uuid})\n")


def test_mig_devices_are_listed_below_their_gpu(machine: SimulatedMachine) -> None:
    machine.control.set(
        0,
        mig_mode=True,
        mig_pending=True,
        gpu_instances=[
            {
                "id": 1,
                "profile": 9,
                "start": 4,
                "size": 4,
                "compute_instances": [{"id": 0, "profile": 2, "start": 0, "size": 3}],
            }
        ],
    )

    code, text = _smi(machine, "-L")

    assert code == 0
    assert re.search(r"^  MIG 3g\.20gb     Device  0: \(UUID: MIG-[0-9a-f-]{36}\)$", text, re.MULTILINE)
    assert "3g.20gb" not in _smi(machine, "-L", "-i", "1")[1]
    assert "|  0    1   0   0  |               0MiB / 19968MiB    | 42      0 |" in _smi(machine)[1]


def test_the_table_has_columns_of_one_width(machine: SimulatedMachine) -> None:
    machine.control.set(0, temperature=44, power_draw=71_000, processes=[{"pid": 4711, "memory": 500 * MIB}])

    code, text = _smi(machine)

    lines = [line for line in text.splitlines() if line.startswith(("|", "+"))]
    assert code == 0
    assert {len(line) for line in lines} == {91}
    assert "| N/A   44C    P0             71W /  400W |     500MiB /  40960MiB |      0%      Default |" in lines
    assert "Driver Version: 580.95.05      CUDA Version: 13.0" in text
    assert re.search(r"^\|    0   N/A  N/A +4711      C   \[Not Found\] +500MiB \|$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (
            "csv",
            "index, name, memory.total [MiB], fan.speed [%], power.draw [W]\n0, Tesla T4, 15360 MiB, [N/A], 9.50 W\n",
        ),
        ("csv,noheader", "0, Tesla T4, 15360 MiB, [N/A], 9.50 W\n"),
        ("csv,noheader,nounits", "0, Tesla T4, 15360, [N/A], 9.50\n"),
    ],
)
@pytest.mark.parametrize("machine", ["T4"], indirect=True)
def test_fields_are_answered_as_csv(machine: SimulatedMachine, form: str, expected: str) -> None:
    fields = "index,name,memory.total,fan.speed,power.draw"

    assert _smi(machine, f"--query-gpu={fields}", f"--format={form}") == (0, expected)


def test_processes_are_answered_as_csv(machine: SimulatedMachine) -> None:
    machine.control.set(1, processes=[{"pid": 4711, "memory": 500 * MIB, "name": "python3"}])

    assert _smi(machine, "--query-compute-apps=pid,name,used_memory", "--format=csv,noheader") == (
        0,
        "4711, python3, 500 MiB\n",
    )


@pytest.mark.parametrize("machine", ["H100-80GB"], indirect=True)
def test_the_report_tells_the_state_of_the_fabric(machine: SimulatedMachine) -> None:
    assert re.search(r"Fabric\n +State +: Completed\n +Status +: Success\n", _smi(machine, "-q")[1])

    machine.control.set(0, fabric={"state": 2})
    assert re.search(r"Fabric\n +State +: In Progress\n +Status +: N/A\n", _smi(machine, "-q")[1])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--no-such-option"], "Invalid combination of input arguments"),
        (["--query-gpu=nonsense", "--format=csv"], 'Field "nonsense" is not a valid field to query.'),
        (["--query-gpu=name"], '"--format=" switch is missing'),
    ],
)
def test_bad_usage_ends_with_2(machine: SimulatedMachine, arguments: list[str], text: str) -> None:
    code, said = _smi(machine, *arguments)

    assert code == 2
    assert text in said


def test_no_device_ends_with_6(machine: SimulatedMachine) -> None:
    machine.show_devices(())

    assert _smi(machine) == (6, "No devices were found\n")
    assert _smi(machine, "-L") == (6, "No devices found.\n")


def test_an_unloaded_driver_ends_with_9(machine: SimulatedMachine) -> None:
    machine.control.unload_driver()

    code, text = _smi(machine)

    assert code == 9
    assert text.startswith("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.")


def test_a_missing_library_ends_with_12(machine: SimulatedMachine, short_path: Path) -> None:
    alone = short_path / "nvidia-smi"
    alone.write_bytes(machine.nvidia_smi.read_bytes())
    alone.chmod(0o755)

    done = _run(machine, alone, LD_LIBRARY_PATH="")

    assert done.returncode == 12
    assert "couldn't find libnvidia-ml.so library in your system" in done.stdout


def test_nvidia_smi_finds_the_library_of_its_own_driver_root(machine: SimulatedMachine) -> None:
    assert _run(machine, machine.nvidia_smi, "-L", LD_LIBRARY_PATH="").returncode == 0


def test_a_library_finds_the_simulator_of_its_own_driver_root(machine: SimulatedMachine) -> None:
    assert _run(machine, machine.nvidia_smi, "-L", LOCKGATE_SIMULATOR_SOCKET="").returncode == 0


def test_a_lost_gpu_ends_with_15(machine: SimulatedMachine) -> None:
    machine.control.lose(1)

    code, text = _smi(machine)

    assert code == 15
    assert text == (
        "Unable to determine the device handle for GPU1: GPU is lost.  Reboot the system to recover this GPU\n"
    )


def test_another_version_of_the_driver_ends_with_18(machine: SimulatedMachine) -> None:
    machine.control.load_driver(version="580.105.08")

    assert _smi(machine) == (
        18,
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.95\n",
    )


def test_no_simulator_is_no_driver(machine: SimulatedMachine) -> None:
    assert _run(machine, machine.nvidia_smi, LOCKGATE_SIMULATOR_SOCKET="/nowhere").returncode == 9


def test_the_cuda_program_passes_on_every_device(machine: SimulatedMachine) -> None:
    done = _run(machine, machine.cuda_vectoradd)

    assert done.returncode == 0
    assert done.stdout == (
        "[Vector addition of 50000 elements]\n"
        "Copy input data from the host memory to the CUDA device\n"
        "CUDA kernel launch with 196 blocks of 256 threads\n"
        "Copy output data from the CUDA device to the host memory\n"
        "Test PASSED\n"
        "Done\n"
    )
    assert [gpu.processes for gpu in machine.control.gpus()] == [(), ()]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (46, "CUDA-capable device(s) is/are busy or unavailable"),
        (100, "no CUDA-capable device is detected"),
        (802, "system not yet initialized"),
        (803, "system has unsupported display driver / cuda driver combination"),
        (804, "forward compatibility was attempted on non supported HW"),
    ],
)
def test_the_cuda_program_fails_with_the_error_of_the_driver(machine: SimulatedMachine, code: int, words: str) -> None:
    machine.control.cuda_error(code)

    done = _run(machine, machine.cuda_vectoradd)

    assert (done.returncode, done.stderr) == (1, f"Failed to allocate device vector A (error code {words})!\n")
    assert "Test PASSED" not in done.stdout


def test_the_cuda_program_fails_without_a_device(machine: SimulatedMachine) -> None:
    machine.show_devices(())

    assert "(error code no CUDA-capable device is detected)!" in _run(machine, machine.cuda_vectoradd).stderr


def test_the_cuda_program_fails_without_a_library(machine: SimulatedMachine) -> None:
    done = _run(machine, machine.cuda_vectoradd, LD_LIBRARY_PATH="")

    assert done.returncode == 1
    assert "(error code CUDA driver version is insufficient for CUDA runtime version)!" in done.stderr


def test_cuda_needs_the_device_of_unified_memory(machine: SimulatedMachine) -> None:
    (machine.dev / "nvidia-uvm").unlink()

    assert "(error code unknown error)!" in _run(machine, machine.cuda_vectoradd).stderr
    assert _smi(machine, "-L")[0] == 0


@pytest.mark.parametrize("machine", ["H100-80GB"], indirect=True)
def test_cuda_waits_for_the_fabric(machine: SimulatedMachine) -> None:
    machine.control.set(0, fabric={"state": 1})

    assert "(error code system not yet initialized)!" in _run(machine, machine.cuda_vectoradd).stderr


def test_more_memory_than_there_is_cannot_be_allocated(machine: SimulatedMachine) -> None:
    assert "(error code out of memory)!" in _run(machine, machine.cuda_vectoradd, "--bytes", str(48 << 30)).stderr


def test_cuda_sees_what_its_variable_names(machine: SimulatedMachine) -> None:
    second = machine.control.gpus()[1].uuid

    assert _run(machine, machine.cuda_vectoradd, CUDA_VISIBLE_DEVICES=second).returncode == 0
    assert _run(machine, machine.cuda_vectoradd, CUDA_VISIBLE_DEVICES="7").returncode == 1
    assert _run(machine, machine.cuda_vectoradd, CUDA_VISIBLE_DEVICES="").returncode == 1


def test_a_process_holds_memory_until_it_ends(machine: SimulatedMachine) -> None:
    command = [machine.cuda_vectoradd, "--hold", "60", "--bytes", str(1 << 30)]
    with subprocess.Popen(command, env=machine.environment, stdout=subprocess.DEVNULL) as process:
        _wait_for(lambda: machine.control.gpus()[1].memory_used > 1 << 30)
        (holder,) = machine.control.gpus()[0].processes
        assert (holder.pid, Path(holder.name).name) == (process.pid, "cuda-vectoradd")
        process.kill()
    _wait_for(lambda: machine.control.gpus()[0].processes == ())


def _wait_for(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
