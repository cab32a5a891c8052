"""MIG through NVML: mode, placements, instances, and the devices that they are."""

import ctypes
from types import ModuleType

import pytest

from lockgate.lab.launch import SimulatedMachine


def _enabled(nvml: ModuleType) -> object:
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    assert nvml.nvmlDeviceSetMigMode(handle, 1) == nvml.NVML_SUCCESS
    return handle


def _profiles(nvml: ModuleType, handle: object) -> dict[str, object]:
    """Profiles by name, found as MIG managers find them: asking for every enum, skipping what is not there."""
    found = {}
    for query in range(nvml.NVML_GPU_INSTANCE_PROFILE_COUNT):
        try:
            info = nvml.nvmlDeviceGetGpuInstanceProfileInfo(handle, query, version=2)
        except (nvml.NVMLError_NotSupported, nvml.NVMLError_InvalidArgument):
            continue
        found[info.name.removeprefix("MIG ")] = info
    return found


def _placements(nvml: ModuleType, handle: object, profile: int) -> list[tuple[int, int]]:
    count = ctypes.c_uint(0)
    nvml.nvmlDeviceGetGpuInstancePossiblePlacements(handle, profile, None, ctypes.byref(count))
    room = (nvml.c_nvmlGpuInstancePlacement_t * count.value)()
    nvml.nvmlDeviceGetGpuInstancePossiblePlacements(handle, profile, room, ctypes.byref(count))
    return [(placement.start, placement.size) for placement in room]


def _create(nvml: ModuleType, handle: object, profile: int, compute: int) -> tuple[object, object]:
    gpu_instance = nvml.nvmlDeviceCreateGpuInstance(handle, profile)
    info = nvml.nvmlGpuInstanceGetComputeInstanceProfileInfo(gpu_instance, compute, 0, version=2)
    return gpu_instance, nvml.nvmlGpuInstanceCreateComputeInstance(gpu_instance, info.id)


def test_an_a100_has_its_seven_profiles_and_their_places(nvml: ModuleType) -> None:
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    profiles = _profiles(nvml, handle)

    assert {name: (info.id, info.instanceCount) for name, info in profiles.items()} == {
        "1g.5gb": (19, 7),
        "1g.5gb+me": (20, 1),
        "1g.10gb": (15, 4),
        "2g.10gb": (14, 3),
        "3g.20gb": (9, 2),
        "4g.20gb": (5, 1),
        "7g.40gb": (0, 1),
    }
    assert _placements(nvml, handle, 19) == [(start, 1) for start in range(7)]
    assert _placements(nvml, handle, 15) == [(0, 2), (2, 2), (4, 2), (6, 2)]
    assert _placements(nvml, handle, 9) == [(0, 4), (4, 4)]
    assert _placements(nvml, handle, 0) == [(0, 8)]


def test_nothing_is_created_before_the_mode_is_on(nvml: ModuleType) -> None:
    handle = nvml.nvmlDeviceGetHandleByIndex(0)

    assert nvml.nvmlDeviceGetMigMode(handle) == [0, 0]
    assert nvml.nvmlDeviceGetMaxMigDeviceCount(handle) == 0
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceCreateGpuInstance(handle, 9)


def test_two_halves_are_two_devices(nvml: ModuleType) -> None:
    handle = _enabled(nvml)
    for _ in range(2):
        _create(nvml, handle, 9, nvml.NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE)

    devices = [nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index) for index in range(2)]

    assert [nvml.nvmlDeviceGetName(device) for device in devices] == ["NVIDIA A100-SXM4-40GB MIG 3g.20gb"] * 2
    assert [nvml.nvmlDeviceGetGpuInstanceId(device) for device in devices] == [1, 2]
    assert [nvml.nvmlDeviceGetComputeInstanceId(device) for device in devices] == [0, 0]
    assert [nvml.nvmlDeviceGetIndex(device) for device in devices] == [0, 1]
    assert len({nvml.nvmlDeviceGetUUID(device) for device in devices}) == 2
    assert all(nvml.nvmlDeviceGetUUID(device).startswith("MIG-") for device in devices)
    assert nvml.nvmlDeviceGetMemoryInfo(devices[0]).total == 19968 << 20
    attributes = nvml.nvmlDeviceGetAttributes_v2(devices[0])
    assert (attributes.multiprocessorCount, attributes.gpuInstanceSliceCount, attributes.memorySizeMB) == (42, 3, 19968)
    assert nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(devices[0])) == (
        nvml.nvmlDeviceGetUUID(handle)
    )
    assert nvml.nvmlDeviceIsMigDeviceHandle(devices[0])
    assert not nvml.nvmlDeviceIsMigDeviceHandle(handle)
    by_uuid = nvml.nvmlDeviceGetHandleByUUID(nvml.nvmlDeviceGetUUID(devices[1]))
    assert nvml.nvmlDeviceGetGpuInstanceId(by_uuid) == 2
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, 2)


def test_instances_that_overlap_are_refused(nvml: ModuleType) -> None:
    handle = _enabled(nvml)
    placement = nvml.c_nvmlGpuInstancePlacement_t(start=0, size=4)
    half = nvml.nvmlDeviceCreateGpuInstanceWithPlacement(handle, 9, ctypes.byref(placement))

    assert nvml.nvmlGpuInstanceGetInfo(half).placement.start == 0
    assert nvml.nvmlDeviceGetGpuInstanceRemainingCapacity(handle, 19) == 3
    assert nvml.nvmlDeviceGetGpuInstanceRemainingCapacity(handle, 5) == 0
    with pytest.raises(nvml.NVMLError_InsufficientResources):
        nvml.nvmlDeviceCreateGpuInstanceWithPlacement(handle, 9, ctypes.byref(placement))
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        wrong = nvml.c_nvmlGpuInstancePlacement_t(start=1, size=4)
        nvml.nvmlDeviceCreateGpuInstanceWithPlacement(handle, 9, ctypes.byref(wrong))


def test_seven_small_instances_fill_a_gpu(nvml: ModuleType, machine: SimulatedMachine) -> None:
    handle = _enabled(nvml)
    for _ in range(7):
        _create(nvml, handle, 19, nvml.NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE)

    with pytest.raises(nvml.NVMLError_InsufficientResources):
        nvml.nvmlDeviceCreateGpuInstance(handle, 19)
    instances = machine.control.gpus()[0].gpu_instances
    assert [(instance.id, instance.start) for instance in instances] == [(7 + start, start) for start in range(7)]
    assert nvml.nvmlDeviceGetMaxMigDeviceCount(handle) == 7


def test_tearing_down_goes_from_compute_to_gpu_instances(nvml: ModuleType) -> None:
    handle = _enabled(nvml)
    gpu_instance, compute_instance = _create(nvml, handle, 14, nvml.NVML_COMPUTE_INSTANCE_PROFILE_2_SLICE)

    with pytest.raises(nvml.NVMLError_InUse):
        nvml.nvmlGpuInstanceDestroy(gpu_instance)
    with pytest.raises(nvml.NVMLError_InUse):
        nvml.nvmlDeviceSetMigMode(handle, 0)
    nvml.nvmlComputeInstanceDestroy(compute_instance)
    nvml.nvmlGpuInstanceDestroy(gpu_instance)

    for gone in (
        lambda: nvml.nvmlGpuInstanceGetInfo(gpu_instance),
        lambda: nvml.nvmlComputeInstanceGetInfo(compute_instance),
    ):
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            gone()
    assert nvml.nvmlDeviceSetMigMode(handle, 0) == nvml.NVML_SUCCESS
    assert nvml.nvmlDeviceGetMigMode(handle) == [0, 0]


def test_a_gpu_instance_can_be_split_further(nvml: ModuleType) -> None:
    handle = _enabled(nvml)
    half = nvml.nvmlDeviceCreateGpuInstance(handle, 9)
    small = nvml.NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE
    info = nvml.nvmlGpuInstanceGetComputeInstanceProfileInfo(half, small, 0, version=2)
    assert (info.instanceCount, info.name) == (3, "MIG 1c.3g.20gb")

    created = [nvml.nvmlGpuInstanceCreateComputeInstance(half, info.id) for _ in range(3)]

    assert [nvml.nvmlComputeInstanceGetInfo(instance).id for instance in created] == [0, 1, 2]
    assert nvml.nvmlGpuInstanceGetComputeInstanceRemainingCapacity(half, info.id) == 0
    with pytest.raises(nvml.NVMLError_InsufficientResources):
        nvml.nvmlGpuInstanceCreateComputeInstance(half, info.id)
    device = nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, 1)
    assert nvml.nvmlDeviceGetName(device) == "NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb"
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlGpuInstanceGetComputeInstanceProfileInfo(
            half, nvml.NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE, 0, version=2
        )


def test_a_gpu_in_use_changes_its_mode_later(nvml: ModuleType, machine: SimulatedMachine) -> None:
    machine.control.set(0, processes=[{"pid": 4711, "memory": 1 << 20}])
    handle = nvml.nvmlDeviceGetHandleByIndex(0)

    assert nvml.nvmlDeviceSetMigMode(handle, 1) == nvml.NVML_ERROR_IN_USE
    assert nvml.nvmlDeviceGetMigMode(handle) == [0, 1]
    with pytest.raises(ValueError, match="GPU 0: in use by process 4711"):
        machine.control.reset(0)

    machine.control.set(0, processes=[])
    machine.control.reset(0)
    assert nvml.nvmlDeviceGetMigMode(handle) == [1, 1]


def test_what_mig_hides_is_not_supported(nvml: ModuleType) -> None:
    handle = _enabled(nvml)
    _create(nvml, handle, 9, nvml.NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE)
    device = nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, 0)

    for call in (
        lambda: nvml.nvmlDeviceGetUtilizationRates(handle),
        lambda: nvml.nvmlDeviceGetPowerUsage(device),
    ):
        with pytest.raises(nvml.NVMLError_NotSupported):
            call()


def test_a_struct_of_a_wrong_version_is_refused(nvml: ModuleType) -> None:
    info = nvml.c_nvmlGpuInstanceProfileInfo_v2_t()
    info.version = 0x1000098
    handle = nvml.nvmlDeviceGetHandleByIndex(0)

    code = nvml.nvmlLib.nvmlDeviceGetGpuInstanceProfileInfoV(handle, 0, ctypes.byref(info))

    assert code == nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH
