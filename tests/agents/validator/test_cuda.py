import asyncio
from pathlib import Path

import pytest

from lockgate.agents.validator.cuda import check_cuda, check_fabric
from lockgate.agents.validator.result import NotReadyError
from lockgate.agents.validator.settings import Settings
from lockgate.lab.launch import SimulatedMachine


def check(machine: SimulatedMachine, tmp_path: Path) -> str:
    settings = Settings(component="cuda", driver_root_ctr=machine.root, output=tmp_path)
    return asyncio.run(check_cuda(settings)).message


def test_cuda_passes_on_every_gpu(machine: SimulatedMachine, tmp_path: Path) -> None:
    assert check(machine, tmp_path) == "CUDA passed on 2 GPUs: context, memory, copy there and back"


@pytest.mark.parametrize(
    ("code", "meaning"),
    [(802, "is nvidia-fabricmanager running"), (803, "different releases"), (999, "see dmesg")],
)
def test_an_error_of_cuda_is_told_with_its_number_and_what_it_means(
    machine: SimulatedMachine, tmp_path: Path, code: int, meaning: str
) -> None:
    machine.control.cuda_error(code)
    with pytest.raises(NotReadyError, match=rf"cuInit failed with {code} \(.+\): .*{meaning}"):
        check(machine, tmp_path)


def test_without_device_nodes_there_is_no_gpu(machine: SimulatedMachine, tmp_path: Path) -> None:
    machine.show_devices(())
    with pytest.raises(NotReadyError, match="are the device nodes in this container"):
        check(machine, tmp_path)


@pytest.mark.parametrize("machine", ["1xH100-80GB"], indirect=True)
@pytest.mark.parametrize(("state", "words"), [(1, "has not started"), (2, "is in progress")])
def test_a_fabric_that_is_not_up_is_named_before_cuda_says_802(
    machine: SimulatedMachine, state: int, words: str
) -> None:
    machine.control.set(0, fabric={"state": state})
    with pytest.raises(NotReadyError, match=f"GPU 0 .* NVLink fabric {words}, so CUDA would fail with 802"):
        check_fabric(machine.root)
    machine.control.set(0, fabric={"state": 3})
    check_fabric(machine.root)


def test_no_driver_root(tmp_path: Path) -> None:
    with pytest.raises(NotReadyError, match=r"libnvidia-ml.so.1 is in none of the library folders"):
        asyncio.run(check_cuda(Settings(component="cuda", driver_root_ctr=tmp_path, output=tmp_path)))
