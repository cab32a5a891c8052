"""What a program reads of a device is what the simulated machine holds."""

import ctypes
from types import ModuleType

import pytest

from lockgate.lab.boards import MIB
from lockgate.lab.launch import SimulatedMachine


def test_memory_of_version_one_counts_what_is_reserved_as_used(nvml: ModuleType) -> None:
    handle = nvml.nvmlDeviceGetHandleByIndex(0)

    first = nvml.nvmlDeviceGetMemoryInfo(handle)
    second = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)

    assert (second.total, second.used) == (40960 * MIB, 0)
    assert second.reserved + second.free + second.used == second.total
    assert first.total == second.total
    assert first.used == second.reserved


def test_a_process_takes_memory(nvml: ModuleType, machine: SimulatedMachine) -> None:
    machine.control.set(1, processes=[{"pid": 4711, "memory": 500 * MIB, "name": "python3", "utilization": 40}])
    handle = nvml.nvmlDeviceGetHandleByIndex(1)

    (process,) = nvml.nvmlDeviceGetComputeRunningProcesses(handle)
    (sample,) = nvml.nvmlDeviceGetProcessUtilization(handle, 0)

    assert (process.pid, process.usedGpuMemory) == (4711, 500 * MIB)
    assert nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2).used == 500 * MIB
    assert (sample.pid, sample.smUtil) == (4711, 40)
    assert nvml.nvmlSystemGetProcessName(4711) == "python3"
    assert nvml.nvmlDeviceGetGraphicsRunningProcesses(handle) == []
    assert nvml.nvmlDeviceGetComputeRunningProcesses(nvml.nvmlDeviceGetHandleByIndex(0)) == []


def test_a_list_that_does_not_fit_says_how_much_room_it_needs(nvml: ModuleType, machine: SimulatedMachine) -> None:
    machine.control.set(0, processes=[{"pid": pid, "memory": MIB} for pid in range(1, 8)])
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    count = ctypes.c_uint(3)
    room = (nvml.c_nvmlProcessInfo_v3_t * 3)()

    code = nvml.nvmlLib.nvmlDeviceGetComputeRunningProcesses_v3(handle, ctypes.byref(count), room)

    assert (code, count.value) == (nvml.NVML_ERROR_INSUFFICIENT_SIZE, 7)
    assert all(entry.pid == 0 for entry in room)


def test_changed_values_are_read_back(nvml: ModuleType, machine: SimulatedMachine) -> None:
    machine.control.set(
        0,
        temperature=83,
        power_draw=312_500,
        utilization_gpu=97,
        utilization_memory=41,
        clocks={"sm": 1410},
        pcie_replays=3,
        ecc={"volatile_uncorrected": 2},
        repairs={"uncorrected": 1, "pending": True},
    )
    handle = nvml.nvmlDeviceGetHandleByIndex(0)

    assert nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU) == 83
    assert nvml.nvmlDeviceGetTemperatureV(handle, nvml.NVML_TEMPERATURE_GPU) == 83
    assert nvml.nvmlDeviceGetPowerUsage(handle) == 312_500
    assert nvml.nvmlDeviceGetUtilizationRates(handle).gpu == 97
    assert nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM) == 1410
    assert nvml.nvmlDeviceGetPcieReplayCounter(handle) == 3
    assert (
        nvml.nvmlDeviceGetTotalEccErrors(handle, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC) == 2
    )
    assert nvml.nvmlDeviceGetEccMode(handle) == [1, 1]
    assert nvml.nvmlDeviceGetRemappedRows(handle) == (0, 1, 1, 0)


def test_energy_grows_with_time(nvml: ModuleType, machine: SimulatedMachine) -> None:
    machine.control.set(0, energy=5_000_000)

    assert nvml.nvmlDeviceGetTotalEnergyConsumption(nvml.nvmlDeviceGetHandleByIndex(0)) >= 5_000_000


@pytest.mark.parametrize("machine", ["T4"], indirect=True)
def test_what_a_board_lacks_is_not_supported(nvml: ModuleType) -> None:
    handle = nvml.nvmlDeviceGetHandleByIndex(0)

    for call in (
        lambda: nvml.nvmlDeviceGetMigMode(handle),
        lambda: nvml.nvmlDeviceGetRemappedRows(handle),
        lambda: nvml.nvmlDeviceGetNvLinkState(handle, 0),
        lambda: nvml.nvmlDeviceGetFanSpeed(handle),
        lambda: nvml.nvmlDeviceGetTemperatureThreshold(handle, nvml.NVML_TEMPERATURE_THRESHOLD_MEM_MAX),
    ):
        with pytest.raises(nvml.NVMLError_NotSupported):
            call()
    assert nvml.nvmlDeviceGetRetiredPagesPendingStatus(handle) == 0


def test_a_function_that_the_library_lacks_is_not_found(nvml: ModuleType) -> None:
    with pytest.raises(nvml.NVMLError_FunctionNotFound):
        nvml.nvmlDeviceGetVgpuMetadata(nvml.nvmlDeviceGetHandleByIndex(0))


@pytest.mark.parametrize("machine", ["H100-80GB"], indirect=True)
def test_the_fabric_is_told_by_every_version_of_its_struct(nvml: ModuleType, machine: SimulatedMachine) -> None:
    cluster = "8f6d1b3c-0f7e-4a2b-9c51-2d7e8a1b4c3d"
    machine.control.set(0, fabric={"cluster_uuid": cluster, "clique_id": 7})
    handle = nvml.nvmlDeviceGetHandleByIndex(0)

    for info, ask in (
        (nvml.c_nvmlGpuFabricInfo_t(), nvml.nvmlDeviceGetGpuFabricInfo),
        (nvml.c_nvmlGpuFabricInfo_v2_t(), nvml.nvmlDeviceGetGpuFabricInfoV),
        (nvml.c_nvmlGpuFabricInfo_v3_t(), nvml.nvmlDeviceGetGpuFabricInfoV),
    ):
        ask(handle, ctypes.byref(info))
        assert bytes(info.clusterUuid).hex() == cluster.replace("-", "")
        assert (info.state, info.status, info.cliqueId) == (nvml.NVML_GPU_FABRIC_STATE_COMPLETED, 0, 7)


def test_a_struct_of_a_wrong_version_is_refused(nvml: ModuleType) -> None:
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    for version in (0, 0x1000028, 0x2000020, 0x3000028):
        memory = nvml.c_nvmlMemory_v2_t(version=version)
        code = nvml.nvmlLib.nvmlDeviceGetMemoryInfo_v2(handle, ctypes.byref(memory))
        assert code == nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH
        assert memory.total == 0

    fabric = nvml.c_nvmlGpuFabricInfo_v3_t()
    fabric.version = 0x4000028
    code = nvml.nvmlLib.nvmlDeviceGetGpuFabricInfoV(handle, ctypes.byref(fabric))
    assert code == nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH


def test_a_text_that_does_not_fit_is_not_cut(nvml: ModuleType) -> None:
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    name = ctypes.create_string_buffer(b"untouched", 20)

    code = nvml.nvmlLib.nvmlDeviceGetName(handle, name, ctypes.c_uint(20))

    assert (code, name.value) == (nvml.NVML_ERROR_INSUFFICIENT_SIZE, b"untouched")
    assert nvml.nvmlLib.nvmlDeviceGetName(handle, name, ctypes.c_uint(0)) == nvml.NVML_ERROR_INSUFFICIENT_SIZE


def test_field_values_have_a_return_code_each(nvml: ModuleType, machine: SimulatedMachine) -> None:
    machine.control.set(0, temperature_memory=71)
    handle = nvml.nvmlDeviceGetHandleByIndex(0)

    temperature, unknown, links = nvml.nvmlDeviceGetFieldValues(
        handle, [nvml.NVML_FI_DEV_MEMORY_TEMP, 9999, nvml.NVML_FI_DEV_NVLINK_LINK_COUNT]
    )

    assert (temperature.nvmlReturn, temperature.value.uiVal) == (0, 71)
    assert unknown.nvmlReturn == nvml.NVML_ERROR_NOT_SUPPORTED
    assert (links.nvmlReturn, links.value.uiVal) == (0, 12)


def test_links_end_in_a_switch_and_may_be_down(nvml: ModuleType, machine: SimulatedMachine) -> None:
    machine.control.set(0, nvlinks_down=[3])
    handle = nvml.nvmlDeviceGetHandleByIndex(0)

    assert [nvml.nvmlDeviceGetNvLinkState(handle, link) for link in range(12)] == [1, 1, 1, 0] + [1] * 8
    assert nvml.nvmlDeviceGetNvLinkRemotePciInfo(handle, 0).busId == "00000000:C4:00.0"
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetNvLinkState(handle, 12)


def test_topology_follows_numa_nodes(nvml: ModuleType, machine: SimulatedMachine) -> None:
    first, second = (nvml.nvmlDeviceGetHandleByIndex(index) for index in range(2))
    assert nvml.nvmlDeviceGetTopologyCommonAncestor(first, second) == nvml.NVML_TOPOLOGY_SINGLE

    nearest = nvml.nvmlDeviceGetTopologyNearestGpus(first, nvml.NVML_TOPOLOGY_SINGLE)
    assert [nvml.nvmlDeviceGetIndex(handle) for handle in nearest] == [1]

    machine.control.set(1, numa_node=1)
    assert nvml.nvmlDeviceGetTopologyCommonAncestor(first, second) == nvml.NVML_TOPOLOGY_SYSTEM
    assert nvml.nvmlDeviceGetMemoryAffinity(second, 1, nvml.NVML_AFFINITY_SCOPE_NODE)[0] == 2


def test_any_function_can_be_made_to_fail(nvml: ModuleType, machine: SimulatedMachine) -> None:
    machine.control.fail("nvmlDeviceGetPowerUsage", 999)
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    with pytest.raises(nvml.NVMLError_Unknown):
        nvml.nvmlDeviceGetPowerUsage(handle)

    machine.control.mend()
    assert nvml.nvmlDeviceGetPowerUsage(handle) == 52_000


def test_every_struct_has_the_size_that_nvidias_python_package_gives_it(nvml: ModuleType) -> None:
    sizes = {
        nvml.nvmlPciInfo_t: 68,
        nvml.c_nvmlMemory_v2_t: 40,
        nvml.c_nvmlProcessInfo_v3_t: 24,
        nvml.c_nvmlProcessUtilizationSample_t: 32,
        nvml.c_nvmlFieldValue_t: 40,
        nvml.c_nvmlEventData_t: 32,
        nvml.c_nvmlGpuFabricInfo_v2_t: 36,
        nvml.c_nvmlGpuFabricInfo_v3_t: 40,
        nvml.c_nvmlGpuInstanceProfileInfo_v2_t: 152,
        nvml.c_nvmlComputeInstanceProfileInfo_v2_t: 136,
    }  # nvml.h of the simulated driver asserts the same numbers when it is compiled
    assert {struct: ctypes.sizeof(struct) for struct in sizes} == sizes
