"""Who a device is and how it fares: the functions whose answer is a few fields of the GPU."""

from collections.abc import Callable
from typing import Final

import msgspec

from lockgate.lab.answers.registry import ANSWERS, Call, Entry, Target, Values, answers
from lockgate.lab.boards import MIB
from lockgate.lab.codes import NvmlError, Return
from lockgate.lab.identity import mig_name, mig_uuid, profile_of
from lockgate.lab.state import Gpu

_SAMPLING_PERIOD: Final = 167_000  # microseconds


def _pci(gpu: Gpu) -> Values:
    domain, bus, slot = gpu.bus_id.split(":")
    identity = gpu.product.device_id << 16 | 0x10DE
    return (int(domain, 16), int(bus, 16), int(slot.split(".")[0], 16), identity, gpu.product.subsystem_id)


def _not_under_mig(gpu: Gpu, values: Values) -> Values:
    """Utilisation of a GPU in MIG mode is not supported: NVML says so, and tools print N/A."""
    if gpu.mig_mode:
        raise NvmlError(Return.NOT_SUPPORTED)
    return values


def _newer_engine(gpu: Gpu) -> Values:
    """The JPEG and optical flow engines that NVML measures came with Ampere; nothing of the simulation uses them."""
    if gpu.product.architecture < 7:
        raise NvmlError(Return.NOT_SUPPORTED)
    return _not_under_mig(gpu, (0, _SAMPLING_PERIOD))


# Each function of a whole GPU alone, and the values it answers.
_GPU_VALUES: Final[dict[str, Callable[[Gpu], Values]]] = {
    "nvmlDeviceGetBrand": lambda gpu: (gpu.product.brand,),
    "nvmlDeviceGetSerial": lambda gpu: (gpu.serial,),
    "nvmlDeviceGetBoardId": lambda gpu: (int(gpu.bus_id[9:11], 16) << 8,),
    "nvmlDeviceGetMultiGpuBoard": lambda gpu: (0,),
    "nvmlDeviceGetModuleId": lambda gpu: (gpu.minor + 1,),
    "nvmlDeviceGetBoardPartNumber": lambda gpu: (gpu.product.part_number,),
    "nvmlDeviceGetVbiosVersion": lambda gpu: (gpu.product.vbios,),
    "nvmlDeviceGetInforomImageVersion": lambda gpu: (gpu.product.inforom,),
    "nvmlDeviceGetNumGpuCores": lambda gpu: (gpu.product.cores,),
    "nvmlDeviceGetMemoryBusWidth": lambda gpu: (gpu.product.memory_bus_width,),
    "nvmlDeviceGetMemoryAffinity": lambda gpu: (gpu.numa_node,),
    "nvmlDeviceGetBusType": lambda gpu: (2,),  # PCIe
    "nvmlDeviceGetIrqNum": lambda gpu: (64 + gpu.minor,),
    "nvmlDeviceGetPciInfo_v3": _pci,
    "nvmlDeviceGetDisplayMode": lambda gpu: (0,),
    "nvmlDeviceGetDisplayActive": lambda gpu: (0,),
    "nvmlDeviceGetVirtualizationMode": lambda gpu: (0,),
    "nvmlDeviceGetPersistenceMode": lambda gpu: (gpu.persistence_mode,),
    "nvmlDeviceGetComputeMode": lambda gpu: (gpu.compute_mode,),
    "nvmlDeviceGetGspFirmwareMode": lambda gpu: (1, 1),
    "nvmlDeviceGetUtilizationRates": lambda gpu: _not_under_mig(gpu, (gpu.utilization_gpu, gpu.utilization_memory)),
    "nvmlDeviceGetEncoderUtilization": lambda gpu: _not_under_mig(gpu, (gpu.utilization_encoder, _SAMPLING_PERIOD)),
    "nvmlDeviceGetDecoderUtilization": lambda gpu: _not_under_mig(gpu, (gpu.utilization_decoder, _SAMPLING_PERIOD)),
    "nvmlDeviceGetJpgUtilization": _newer_engine,
    "nvmlDeviceGetOfaUtilization": _newer_engine,
    "nvmlDeviceGetPerformanceState": lambda gpu: (gpu.performance_state,),
    "nvmlDeviceGetCurrentClocksEventReasons": lambda gpu: (gpu.clocks_event_reasons,),
    "nvmlDeviceGetSupportedClocksEventReasons": lambda gpu: (0x1FF,),
    "nvmlDeviceGetPowerManagementMode": lambda gpu: (1,),
    "nvmlDeviceGetPowerUsage": lambda gpu: (gpu.power_draw,),
    "nvmlDeviceGetPowerManagementLimit": lambda gpu: (gpu.power_limit,),
    "nvmlDeviceGetEnforcedPowerLimit": lambda gpu: (gpu.power_limit,),
    "nvmlDeviceGetPowerManagementDefaultLimit": lambda gpu: (gpu.product.power_max,),
    "nvmlDeviceGetPowerManagementLimitConstraints": lambda gpu: (gpu.product.power_min, gpu.product.power_max),
    "nvmlDeviceGetPowerSource": lambda gpu: (0,),
    "nvmlDeviceGetCurrPcieLinkGeneration": lambda gpu: (gpu.pcie_generation,),
    "nvmlDeviceGetCurrPcieLinkWidth": lambda gpu: (gpu.pcie_width,),
    "nvmlDeviceGetPcieSpeed": lambda gpu: (1250 * 2**gpu.pcie_generation,),  # Mb/s a lane, from 2,500 of generation 1
    "nvmlDeviceGetMaxPcieLinkGeneration": lambda gpu: (gpu.product.pcie_generation,),
    "nvmlDeviceGetGpuMaxPcieLinkGeneration": lambda gpu: (gpu.product.pcie_generation,),
    "nvmlDeviceGetMaxPcieLinkWidth": lambda gpu: (gpu.product.pcie_width,),
    "nvmlDeviceGetPcieReplayCounter": lambda gpu: (gpu.pcie_replays,),
    "nvmlDeviceGetNumFans": lambda gpu: (0,),  # all these boards are cooled by the server
    "nvmlDeviceGetGpuFabricInfo": lambda gpu: (
        gpu.fabric.cluster_uuid,
        gpu.fabric.status,
        gpu.fabric.clique_id,
        gpu.fabric.state,
        gpu.fabric.health_mask,
    ),
    "nvmlDeviceGetSupportedEventTypes": lambda gpu: (_supported_events(gpu),),
}


def _of_gpu(values: Callable[[Gpu], Values]) -> Callable[[Call, Target], Values]:
    return lambda call, target: values(target.gpu)


for _name, _values in _GPU_VALUES.items():
    ANSWERS[_name] = Entry("g", _of_gpu(_values))


def _supported_events(gpu: Gpu) -> int:
    events = 0x1 | 0x2 | 0x8 | 0x10  # single and double bit ECC, XID, clock
    return events | 0x100 if gpu.product.nvlinks else events  # MIG configuration change


@answers("nvmlDeviceGetMinorNumber", "d")
def _minor(call: Call, target: Target) -> Values:
    return (target.gpu.minor,)


@answers("nvmlDeviceGetUUID", "d")
def _uuid(call: Call, target: Target) -> Values:
    gpu, gpu_instance, compute_instance = target
    if gpu_instance is None or compute_instance is None:
        return (gpu.uuid,)
    return (mig_uuid(gpu, gpu_instance, compute_instance),)


@answers("nvmlDeviceGetName", "d")
def _name_of(call: Call, target: Target) -> Values:
    gpu, gpu_instance, compute_instance = target
    if gpu_instance is None or compute_instance is None:
        return (gpu.product.name,)
    return (f"{gpu.product.name} MIG {mig_name(gpu, gpu_instance, compute_instance)}",)


@answers("nvmlDeviceGetArchitecture", "d")
def _architecture(call: Call, target: Target) -> Values:
    return (target.gpu.product.architecture,)


@answers("nvmlDeviceGetCudaComputeCapability", "d")
def _compute_capability(call: Call, target: Target) -> Values:
    return target.gpu.product.compute_capability


@answers("nvmlDeviceGetMemoryInfo_v2", "d")
def _memory(call: Call, target: Target) -> Values:
    """Total, reserved, free, used."""
    gpu, gpu_instance, _ = target
    if gpu_instance is None:
        return gpu.product.memory, gpu.product.memory_reserved, gpu.memory_free, gpu.memory_used
    total = profile_of(gpu, gpu_instance).memory_mib * MIB
    used = sum(process.memory for process in gpu.processes if process.gpu_instance == gpu_instance.id)
    return total, 0, max(0, total - used), used


@answers("nvmlDeviceGetBAR1MemoryInfo", "d")
def _bar1(call: Call, target: Target) -> Values:
    total, used = target.gpu.product.bar1, 1 * MIB
    return total, total - used, used


@answers("nvmlDeviceGetFanSpeed", "g")
@answers("nvmlDeviceGetNumaNodeId", "g")
def _absent(call: Call, target: Target) -> Values:
    """None of these boards has a fan, or is a NUMA node of its own as on Grace."""
    raise NvmlError(Return.NOT_SUPPORTED)


@answers("nvmlDeviceGetFanSpeed_v2", "gu")
def _fan_speed(call: Call, target: Target, fan: int) -> Values:
    raise NvmlError(Return.NOT_SUPPORTED)


@answers("nvmlDeviceGetGspFirmwareVersion", "g")
def _gsp_version(call: Call, target: Target) -> Values:
    return (call.driver.version,)


@answers("nvmlDeviceSetPersistenceMode", "gu")
def _set_persistence(call: Call, target: Target, mode: int) -> Values:
    return _set(call, target, persistence_mode=_flag(mode))


@answers("nvmlDeviceSetPowerManagementLimit", "gu")
def _set_power_limit(call: Call, target: Target, limit: int) -> Values:
    if not target.gpu.product.power_min <= limit <= target.gpu.product.power_max:
        raise NvmlError(Return.INVALID_ARGUMENT)
    return _set(call, target, power_limit=limit)


@answers("nvmlDeviceSetComputeMode", "gu")
def _set_compute_mode(call: Call, target: Target, mode: int) -> Values:
    if mode not in (0, 2, 3):  # exclusive thread was dropped long ago
        raise NvmlError(Return.INVALID_ARGUMENT)
    return _set(call, target, compute_mode=mode)


def _set(call: Call, target: Target, **fields: int) -> Values:
    call.machine.change_gpu(msgspec.structs.replace(target.gpu, **fields))
    return ()


def _flag(value: int) -> bool:
    if value not in (0, 1):
        raise NvmlError(Return.INVALID_ARGUMENT)
    return bool(value)
