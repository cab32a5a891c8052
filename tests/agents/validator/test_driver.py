import asyncio
import os
from pathlib import Path

import pytest

from lockgate.agents.driver_ready import read_driver_ready
from lockgate.agents.validator.dev_char import link_devices
from lockgate.agents.validator.driver import check_driver
from lockgate.agents.validator.result import NotReadyError, Passed
from lockgate.agents.validator.settings import Settings
from lockgate.lab.launch import SimulatedMachine
from lockgate.lab.state import DRIVER_VERSION


def check(driver_root: Path, tmp_path: Path) -> Passed:
    host = tmp_path / "host"
    host.mkdir(exist_ok=True)
    return asyncio.run(
        check_driver(Settings(component="driver", host=host, driver_root_ctr=driver_root, output=tmp_path))
    )


def test_a_driver_in_its_container_answers_and_is_described(machine: SimulatedMachine, tmp_path: Path) -> None:
    passed = check(machine.root, tmp_path)
    assert passed.driver is not None
    assert (passed.driver.version, passed.driver.host_driver) == (DRIVER_VERSION, False)
    assert passed.driver.cuda_version
    assert DRIVER_VERSION in passed.message


def test_the_other_operands_read_where_it_is(machine: SimulatedMachine, tmp_path: Path) -> None:
    (tmp_path / "driver-ready").write_text(check(machine.root, tmp_path).content)
    assert read_driver_ready(tmp_path / "driver-ready") == {
        "NVIDIA_DRIVER_ROOT": "/run/nvidia/driver",
        "DRIVER_ROOT_CTR_PATH": "/driver-root",
        "NVIDIA_DEV_ROOT": "/",
        "DEV_ROOT_CTR_PATH": "/host",
    }
    assert "IS_HOST_DRIVER=false\n" in (tmp_path / "driver-ready").read_text()


def test_a_driver_that_is_not_loaded_is_told_in_nvidia_smis_words(machine: SimulatedMachine, tmp_path: Path) -> None:
    machine.control.unload_driver()
    with pytest.raises(NotReadyError, match=r"nvidia-smi of .* failed with status \d+: .*NVIDIA driver"):
        check(machine.root, tmp_path)


def test_no_driver_at_all(tmp_path: Path) -> None:
    with pytest.raises(NotReadyError, match="no nvidia-smi on the host, and no driver root"):
        check(tmp_path / "empty", tmp_path)


def test_a_driver_root_without_its_program(machine: SimulatedMachine, tmp_path: Path) -> None:
    machine.nvidia_smi.unlink()
    with pytest.raises(NotReadyError, match="has no nvidia-smi"):
        check(machine.root, tmp_path)


def test_a_program_that_cannot_run_is_told(machine: SimulatedMachine, tmp_path: Path) -> None:
    machine.nvidia_smi.write_text("#!/no/such/shell\n")
    with pytest.raises(NotReadyError, match="cannot be run"):
        check(machine.root, tmp_path)


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes device nodes")
def test_links_in_dev_char_point_at_the_nodes_and_wrong_ones_are_replaced(tmp_path: Path) -> None:
    dev, folder = tmp_path / "dev", tmp_path / "char"
    dev.mkdir()
    folder.mkdir()
    os.mknod(dev / "nvidia0", 0o20666, os.makedev(195, 0))
    os.mknod(dev / "nvidiactl", 0o20666, os.makedev(195, 255))
    (folder / "195:0").symlink_to("/dev/else")
    nodes = ("/dev/nvidia0", "/dev/nvidiactl")
    assert link_devices(folder, dev, "/", nodes) == ("195:0", "195:255")
    assert link_devices(folder, dev, "/", nodes) == ()
    assert str((folder / "195:255").readlink()) == "/dev/nvidiactl"
