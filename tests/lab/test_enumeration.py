"""A program that uses NVML finds the simulated GPUs, by the real binary interface."""

from collections.abc import Callable
from types import ModuleType

import pytest

from lockgate.lab.launch import SimulatedMachine


def test_devices_are_enumerated_in_pci_order(nvml: ModuleType, machine: SimulatedMachine) -> None:
    handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]

    assert [nvml.nvmlDeviceGetUUID(handle) for handle in handles] == [gpu.uuid for gpu in machine.control.gpus()]
    assert [nvml.nvmlDeviceGetIndex(handle) for handle in handles] == [0, 1]
    assert [nvml.nvmlDeviceGetMinorNumber(handle) for handle in handles] == [0, 1]
    assert [nvml.nvmlDeviceGetName(handle) for handle in handles] == ["NVIDIA A100-SXM4-40GB"] * 2


def test_a_device_is_found_by_uuid_bus_id_and_serial(nvml: ModuleType, machine: SimulatedMachine) -> None:
    second = machine.control.gpus()[1]

    for handle in (
        nvml.nvmlDeviceGetHandleByUUID(second.uuid),
        nvml.nvmlDeviceGetHandleByPciBusId("00000000:0F:00.0"),
        nvml.nvmlDeviceGetHandleByPciBusId("0000:0f:00.0"),
        nvml.nvmlDeviceGetHandleBySerial(second.serial),
    ):
        assert nvml.nvmlDeviceGetIndex(handle) == 1


@pytest.mark.parametrize("name", ["GPU-00000000-0000-0000-0000-000000000000", "", "%00", "a b\n", "x" * 3000])
def test_an_unknown_uuid_is_not_found(nvml: ModuleType, name: str) -> None:
    with pytest.raises(nvml.NVMLError) as raised:
        nvml.nvmlDeviceGetHandleByUUID(name)

    assert raised.value.value == nvml.NVML_ERROR_NOT_FOUND


def test_an_index_beyond_the_count_is_an_invalid_argument(nvml: ModuleType) -> None:
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetHandleByIndex(2)


def test_versions_are_the_drivers(nvml: ModuleType) -> None:
    assert nvml.nvmlSystemGetDriverVersion() == "580.95.05"
    assert nvml.nvmlSystemGetNVMLVersion() == "13.580.95.05"
    assert nvml.nvmlSystemGetCudaDriverVersion() == 13000


def test_pci_identity_is_the_boards(nvml: ModuleType) -> None:
    pci = nvml.nvmlDeviceGetPciInfo(nvml.nvmlDeviceGetHandleByIndex(0))

    assert pci.busId == "00000000:07:00.0"
    assert pci.busIdLegacy == "0000:07:00.0"
    assert pci.pciDeviceId == 0x20B010DE
    assert pci.pciSubSystemId == 0x144E10DE


@pytest.mark.parametrize("machine", ["T4,H100-80GB"], indirect=True)
def test_boards_may_be_mixed(nvml: ModuleType) -> None:
    first, second = (nvml.nvmlDeviceGetHandleByIndex(index) for index in range(2))

    assert nvml.nvmlDeviceGetName(first) == "Tesla T4"
    assert nvml.nvmlDeviceGetCudaComputeCapability(first) == (7, 5)
    assert nvml.nvmlDeviceGetArchitecture(first) == nvml.NVML_DEVICE_ARCH_TURING
    assert nvml.nvmlDeviceGetName(second) == "NVIDIA H100 80GB HBM3"
    assert nvml.nvmlDeviceGetCudaComputeCapability(second) == (9, 0)
    assert nvml.nvmlDeviceGetArchitecture(second) == nvml.NVML_DEVICE_ARCH_HOPPER


def test_only_devices_with_a_node_are_seen(load_nvml: Callable[[], ModuleType], machine: SimulatedMachine) -> None:
    machine.show_devices((1,))
    nvml = load_nvml()
    nvml.nvmlInit()

    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    hidden, shown = machine.control.gpus()
    assert nvml.nvmlDeviceGetCount() == 1
    assert nvml.nvmlDeviceGetUUID(handle) == shown.uuid
    assert nvml.nvmlDeviceGetMinorNumber(handle) == 1
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetHandleByUUID(hidden.uuid)
    nvml.nvmlShutdown()


def test_without_the_control_device_there_is_no_driver(
    load_nvml: Callable[[], ModuleType], machine: SimulatedMachine
) -> None:
    (machine.dev / "nvidiactl").unlink()
    nvml = load_nvml()

    with pytest.raises(nvml.NVMLError_DriverNotLoaded):
        nvml.nvmlInit()


def test_an_unloaded_driver_is_not_loaded(load_nvml: Callable[[], ModuleType], machine: SimulatedMachine) -> None:
    machine.control.unload_driver()
    nvml = load_nvml()

    with pytest.raises(nvml.NVMLError_DriverNotLoaded):
        nvml.nvmlInit()

    machine.control.load_driver()
    nvml.nvmlInit()
    assert nvml.nvmlDeviceGetCount() == 2
    nvml.nvmlShutdown()


def test_a_driver_of_another_version_than_the_library_is_a_mismatch(
    load_nvml: Callable[[], ModuleType], machine: SimulatedMachine
) -> None:
    machine.control.load_driver(version="580.105.08")
    nvml = load_nvml()

    with pytest.raises(nvml.NVMLError_LibRmVersionMismatch):
        nvml.nvmlInit()


def test_nothing_is_answered_before_init_and_after_the_last_shutdown(load_nvml: Callable[[], ModuleType]) -> None:
    nvml = load_nvml()
    with pytest.raises(nvml.NVMLError_Uninitialized):
        nvml.nvmlDeviceGetCount()

    nvml.nvmlInit()
    nvml.nvmlInit()
    nvml.nvmlShutdown()
    assert nvml.nvmlDeviceGetCount() == 2

    nvml.nvmlShutdown()
    with pytest.raises(nvml.NVMLError_Uninitialized):
        nvml.nvmlDeviceGetCount()
    with pytest.raises(nvml.NVMLError_Uninitialized):
        nvml.nvmlShutdown()


def test_handles_of_a_former_init_are_void(load_nvml: Callable[[], ModuleType]) -> None:
    nvml = load_nvml()
    nvml.nvmlInit()
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    nvml.nvmlShutdown()
    nvml.nvmlInit()

    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetUUID(handle)
    nvml.nvmlShutdown()


def test_what_is_no_handle_is_an_invalid_argument(nvml: ModuleType) -> None:
    import ctypes

    for address in (None, 1, 0xDEADBEEF, 0xFFFFFFFFFFFFFFFF):
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            nvml.nvmlDeviceGetUUID(ctypes.c_void_p(address))


def test_identities_follow_from_the_seed(machine: SimulatedMachine) -> None:
    from lockgate.lab.boards import parse_boards
    from lockgate.lab.state import new_driver

    again = new_driver(parse_boards("2xA100-40GB"), seed="node")
    other = new_driver(parse_boards("2xA100-40GB"), seed="another")

    assert [gpu.uuid for gpu in machine.control.gpus()] == [gpu.uuid for gpu in again.gpus]
    assert {gpu.uuid for gpu in again.gpus}.isdisjoint(gpu.uuid for gpu in other.gpus)
