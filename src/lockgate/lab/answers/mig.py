"""MIG: the mode of a GPU, and the devices that its instances are."""

from lockgate.lab.answers.partitioned import change, mig_instances, multiprocessors
from lockgate.lab.answers.registry import Call, Target, Values, answers
from lockgate.lab.codes import NvmlError, Return
from lockgate.lab.identity import profile_of, profiles
from lockgate.lab.partition import set_mig_mode
from lockgate.lab.state import Gpu
from lockgate.lab.wire import Object


@answers("nvmlDeviceGetMigMode", "g")
def _mode(call: Call, target: Target) -> Values:
    if not profiles(target.gpu):
        raise NvmlError(Return.NOT_SUPPORTED)
    return target.gpu.mig_mode, target.gpu.mig_pending


@answers("nvmlDeviceSetMigMode", "gu")
def _set_mode(call: Call, target: Target, mode: int) -> Values:
    if mode > 1:
        raise NvmlError(Return.INVALID_ARGUMENT)
    changed, status = set_mig_mode(target.gpu, bool(mode))
    change(call, changed)
    return (status,)


def _mig_devices(gpu: Gpu) -> list[Target]:
    return [Target(gpu, gi, ci) for gi in gpu.gpu_instances for ci in gi.compute_instances]


@answers("nvmlDeviceGetMaxMigDeviceCount", "g")
def _max_devices(call: Call, target: Target) -> Values:
    return (7 if target.gpu.mig_mode else 0,)


@answers("nvmlDeviceGetMigDeviceHandleByIndex", "gu")
def _device_by_index(call: Call, target: Target, index: int) -> Values:
    if not profiles(target.gpu):
        raise NvmlError(Return.NOT_SUPPORTED)
    devices = _mig_devices(target.gpu)
    if index >= 7:
        raise NvmlError(Return.INVALID_ARGUMENT)
    if index >= len(devices):
        raise NvmlError(Return.NOT_FOUND)
    return (devices[index].object,)


@answers("nvmlDeviceGetIndex", "d")
def _index(call: Call, target: Target) -> Values:
    """Of a GPU among those the process sees, of a MIG device among those of its GPU."""
    if target.compute_instance is not None:
        return (_mig_devices(target.gpu).index(target),)
    return ([gpu.minor for gpu in call.gpus].index(target.gpu.minor),)


@answers("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", "d")
def _parent(call: Call, target: Target) -> Values:
    mig_instances(target)
    return (Object((target.gpu.minor,)),)


@answers("nvmlDeviceGetGpuInstanceId", "d")
def _gpu_instance_id(call: Call, target: Target) -> Values:
    return (mig_instances(target)[0].id,)


@answers("nvmlDeviceGetComputeInstanceId", "d")
def _compute_instance_id(call: Call, target: Target) -> Values:
    return (mig_instances(target)[1].id,)


@answers("nvmlDeviceGetAttributes_v2", "d")
def _attributes(call: Call, target: Target) -> Values:
    """SMs, copy engines, decoders, encoders, JPEG, OFA, GPU slices, compute slices, MiB."""
    if target.gpu_instance is None or target.compute_instance is None:
        raise NvmlError(Return.NOT_SUPPORTED)
    profile = profile_of(target.gpu, target.gpu_instance)
    slices = target.compute_instance.size
    return (
        multiprocessors(profile, slices),
        profile.copy_engines,
        profile.decoders,
        0,
        profile.jpeg,
        profile.ofa,
        profile.slices,
        slices,
        profile.memory_mib,
    )
