"""CUDA's driver interface as far as start-up and memory go. Return codes are CUresult, not NVML's.

A device is a whole GPU, or the first MIG device of a GPU in MIG mode, as CUDA sees them.
"""

from lockgate.lab.answers.registry import Call, Target, Values, answers
from lockgate.lab.boards import MIB
from lockgate.lab.codes import CudaError, FabricState, NvmlError
from lockgate.lab.identity import mig_name, mig_uuid, profile_of
from lockgate.lab.machine import Allocation
from lockgate.lab.state import Gpu


@answers("cuInit")
def _init(call: Call) -> Values:
    error = _start_error(call)
    if error:
        raise NvmlError(error)
    call.session.cuda_ready = True
    return ()


def _start_error(call: Call) -> int:
    """Why CUDA cannot start, as a CUresult; 0 when it can."""
    if call.driver.cuda_error:
        return call.driver.cuda_error
    devices = _devices(call)
    if not devices:
        return CudaError.NO_DEVICE
    if any(gpu.product.fabric and gpu.fabric.state != FabricState.COMPLETED for gpu, _, _ in devices):
        return CudaError.SYSTEM_NOT_READY  # the fabric manager has not set the NVSwitches up
    return 0


def _devices(call: Call) -> list[Target]:
    """The devices in CUDA's order, as CUDA_VISIBLE_DEVICES leaves them."""
    devices = [target for gpu in call.gpus if not gpu.lost for target in _cuda_device(gpu)]
    chosen = call.session.visible_to_cuda
    return devices if chosen is None else _choose(devices, chosen)


def _cuda_device(gpu: Gpu) -> list[Target]:
    if not gpu.mig_mode:
        return [Target(gpu)]
    for gpu_instance in gpu.gpu_instances:
        for compute_instance in gpu_instance.compute_instances:
            return [Target(gpu, gpu_instance, compute_instance)]
    return []


def _choose(devices: list[Target], chosen: str) -> list[Target]:
    """Indexes or starts of UUIDs; the first one that names nothing ends the list, as CUDA has it."""
    picked: list[Target] = []
    for name in chosen.split(","):
        found = _named(devices, name.strip())
        if found is None or found in picked:
            break
        picked.append(found)
    return picked


def _named(devices: list[Target], name: str) -> Target | None:
    for index, device in enumerate(devices):
        if name == str(index) or (len(name) > 4 and _uuid(device).startswith(name)):
            return device
    return None


def _uuid(target: Target) -> str:
    gpu, gpu_instance, compute_instance = target
    if gpu_instance is None or compute_instance is None:
        return gpu.uuid
    return mig_uuid(gpu, gpu_instance, compute_instance)


def _device(call: Call, ordinal: int) -> Target:
    if not call.session.cuda_ready:
        raise NvmlError(CudaError.NOT_INITIALIZED)
    devices = _devices(call)
    if ordinal >= len(devices):
        raise NvmlError(CudaError.INVALID_DEVICE)
    return devices[ordinal]


@answers("cuDriverGetVersion")
def _version(call: Call) -> Values:
    return (call.driver.cuda_version,)


@answers("cuDeviceGetCount")
def _count(call: Call) -> Values:
    if not call.session.cuda_ready:
        raise NvmlError(CudaError.NOT_INITIALIZED)
    return (len(_devices(call)),)


@answers("cuDeviceGetName", "u")
def _name(call: Call, ordinal: int) -> Values:
    gpu, gpu_instance, compute_instance = _device(call, ordinal)
    if gpu_instance is None or compute_instance is None:
        return (gpu.product.name,)
    return (f"{gpu.product.name} MIG {mig_name(gpu, gpu_instance, compute_instance)}",)


@answers("cuDeviceGetUuid_v2", "u")
def _device_uuid(call: Call, ordinal: int) -> Values:
    return (_uuid(_device(call, ordinal)),)


@answers("cuDeviceTotalMem_v2", "u")
def _total(call: Call, ordinal: int) -> Values:
    return (_room(_device(call, ordinal))[0],)


@answers("cuDeviceGetAttribute", "uu")
def _attribute(call: Call, attribute: int, ordinal: int) -> Values:
    """Compute capability (75, 76) and multiprocessors (16); others are not simulated."""
    gpu = _device(call, ordinal).gpu
    known = {75: gpu.product.compute_capability[0], 76: gpu.product.compute_capability[1], 16: gpu.product.cores // 64}
    if attribute not in known:
        raise NvmlError(CudaError.INVALID_VALUE)
    return (known[attribute],)


@answers("cuMemGetInfo_v2", "u")
def _memory(call: Call, ordinal: int) -> Values:
    """Free and total bytes."""
    total, free = _room(_device(call, ordinal))
    return free, total


def _room(target: Target) -> tuple[int, int]:
    """Total and free bytes of a device."""
    gpu, gpu_instance, _ = target
    if gpu_instance is None:
        return gpu.product.memory - gpu.product.memory_reserved, gpu.memory_free
    total = profile_of(gpu, gpu_instance).memory_mib * MIB
    used = sum(process.memory for process in gpu.processes if process.gpu_instance == gpu_instance.id)
    return total, max(0, total - used)


@answers("cuCtxCreate_v2", "u")
def _create_context(call: Call, ordinal: int) -> Values:
    """A number by which the context is destroyed."""
    target = _device(call, ordinal)
    prohibited, exclusive = target.gpu.compute_mode == 2, target.gpu.compute_mode == 3
    others = any(process.pid != call.session.pid for process in target.gpu.processes)
    if target.gpu.reset_required or prohibited or (exclusive and others):
        raise NvmlError(CudaError.DEVICES_UNAVAILABLE)
    if target.gpu.ecc.enabled and target.gpu.ecc.volatile_uncorrected:
        raise NvmlError(CudaError.ECC_UNCORRECTABLE)
    return (_hold(call, target, target.gpu.product.context_memory),)


@answers("cuMemAlloc_v2", "uu")
def _allocate(call: Call, ordinal: int, size: int) -> Values:
    """A number by which the memory is freed."""
    if size == 0:
        raise NvmlError(CudaError.INVALID_VALUE)
    return (_hold(call, _device(call, ordinal), size),)


def _hold(call: Call, target: Target, size: int) -> int:
    if size > _room(target)[1]:
        raise NvmlError(CudaError.OUT_OF_MEMORY)
    gpu, gpu_instance, compute_instance = target
    allocation = Allocation(
        gpu.minor,
        size,
        gpu_instance.id if gpu_instance else None,
        compute_instance.id if compute_instance else None,
    )
    return call.machine.hold(call.session, allocation)


@answers("cuMemFree_v2", "u")
def _free(call: Call, number: int) -> Values:
    if not call.machine.release(call.session, number):
        raise NvmlError(CudaError.INVALID_VALUE)
    return ()
