"""MIG: mode, GPU instances, compute instances, and the devices that they are."""

from typing import Final

from lockgate.lab.answers.registry import Call, Target, Values, answers
from lockgate.lab.codes import Event, NvmlError, Return
from lockgate.lab.identity import profile_of, profiles
from lockgate.lab.machine import GpuEvent
from lockgate.lab.partition import (
    COMPUTE_PROFILES,
    compute_slices,
    compute_starts,
    create_compute_instance,
    create_gpu_instance,
    destroy_compute_instance,
    destroy_gpu_instance,
    free_compute_starts,
    profile_by_id,
    remaining,
    set_mig_mode,
)
from lockgate.lab.state import ComputeInstance, Gpu, GpuInstance
from lockgate.lab.wire import Object
from lockgate.mig.products import Profile

_GPU_PROFILES: Final = 18  # NVML_GPU_INSTANCE_PROFILE_COUNT


def _changed(call: Call, gpu: Gpu) -> None:
    call.machine.change_gpu(gpu)
    call.machine.publish(GpuEvent(gpu.minor, Event.MIG_CONFIG_CHANGE, 0))


# ---- mode ----


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
    _changed(call, changed)
    return (status,)


# ---- MIG devices ----


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


def _instances(target: Target) -> tuple[GpuInstance, ComputeInstance]:
    """The instances of a MIG device; INVALID_ARGUMENT for a whole GPU."""
    if target.gpu_instance is None or target.compute_instance is None:
        raise NvmlError(Return.INVALID_ARGUMENT)
    return target.gpu_instance, target.compute_instance


@answers("nvmlDeviceGetIndex", "d")
def _index(call: Call, target: Target) -> Values:
    """Of a GPU among those the process sees, of a MIG device among those of its GPU."""
    if target.compute_instance is not None:
        return (_mig_devices(target.gpu).index(target),)
    return ([gpu.minor for gpu in call.gpus].index(target.gpu.minor),)


@answers("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", "d")
def _parent(call: Call, target: Target) -> Values:
    _instances(target)
    return (Object((target.gpu.minor,)),)


@answers("nvmlDeviceGetGpuInstanceId", "d")
def _gpu_instance_id(call: Call, target: Target) -> Values:
    return (_instances(target)[0].id,)


@answers("nvmlDeviceGetComputeInstanceId", "d")
def _compute_instance_id(call: Call, target: Target) -> Values:
    return (_instances(target)[1].id,)


@answers("nvmlDeviceGetAttributes_v2", "d")
def _attributes(call: Call, target: Target) -> Values:
    """SMs, copy engines, decoders, encoders, JPEG, OFA, GPU slices, compute slices, MiB."""
    if target.gpu_instance is None or target.compute_instance is None:
        raise NvmlError(Return.NOT_SUPPORTED)
    profile = profile_of(target.gpu, target.gpu_instance)
    slices = target.compute_instance.size
    return (
        _multiprocessors(profile, slices),
        profile.copy_engines,
        profile.decoders,
        0,
        profile.jpeg,
        profile.ofa,
        profile.slices,
        slices,
        profile.memory_mib,
    )


def _multiprocessors(profile: Profile, slices: int) -> int:
    return profile.multiprocessors * slices // profile.slices


# ---- GPU instances ----


def _gpu_profile(target: Target, query: int) -> Profile:
    """The board's profile for one of NVML's query enums."""
    if query >= _GPU_PROFILES:
        raise NvmlError(Return.INVALID_ARGUMENT)
    for profile in profiles(target.gpu):
        if profile.query == query:
            return profile
    raise NvmlError(Return.NOT_SUPPORTED)


def _gpu_profile_values(profile: Profile) -> Values:
    """Id, peer-to-peer, slices, count, SMs, copy engines, decoders, encoders, JPEG, OFA, MiB, name."""
    return (
        profile.id,
        0,
        profile.slices,
        profile.max_count,
        profile.multiprocessors,
        profile.copy_engines,
        profile.decoders,
        0,
        profile.jpeg,
        profile.ofa,
        profile.memory_mib,
        f"MIG {profile.name}",
    )


@answers("nvmlDeviceGetGpuInstanceProfileInfo", "gu")
def _gpu_profile_info(call: Call, target: Target, query: int) -> Values:
    return _gpu_profile_values(_gpu_profile(target, query))


@answers("nvmlDeviceGetGpuInstanceProfileInfoById", "gu")
def _gpu_profile_info_by_id(call: Call, target: Target, profile: int) -> Values:
    return _gpu_profile_values(profile_by_id(target.gpu, profile))


@answers("nvmlDeviceGetGpuInstancePossiblePlacements_v2", "gu")
def _placements(call: Call, target: Target, profile_id: int) -> Values:
    """The number of places, then start and size of each."""
    profile = profile_by_id(target.gpu, profile_id)
    return len(profile.starts), *(value for start in profile.starts for value in (start, profile.size))


@answers("nvmlDeviceGetGpuInstanceRemainingCapacity", "gu")
def _remaining(call: Call, target: Target, profile_id: int) -> Values:
    if not target.gpu.mig_mode:
        raise NvmlError(Return.NOT_SUPPORTED)
    return (remaining(target.gpu, profile_by_id(target.gpu, profile_id)),)


@answers("nvmlDeviceCreateGpuInstance", "gu")
def _create(call: Call, target: Target, profile_id: int) -> Values:
    return _create_at(call, target, profile_id, None)


@answers("nvmlDeviceCreateGpuInstanceWithPlacement", "guuu")
def _create_placed(call: Call, target: Target, profile_id: int, start: int, size: int) -> Values:
    if size != profile_by_id(target.gpu, profile_id).size:
        raise NvmlError(Return.INVALID_ARGUMENT)
    return _create_at(call, target, profile_id, start)


def _create_at(call: Call, target: Target, profile_id: int, start: int | None) -> Values:
    changed, created = create_gpu_instance(target.gpu, profile_by_id(target.gpu, profile_id), start)
    _changed(call, changed)
    return (Object((changed.minor, created.id)),)


@answers("nvmlGpuInstanceDestroy", "I")
def _destroy(call: Call, target: Target) -> Values:
    assert target.gpu_instance is not None
    _changed(call, destroy_gpu_instance(target.gpu, target.gpu_instance))
    return ()


@answers("nvmlDeviceGetGpuInstances", "gu")
def _gpu_instances(call: Call, target: Target, profile_id: int) -> Values:
    if not target.gpu.mig_mode:
        raise NvmlError(Return.NOT_SUPPORTED)
    profile = profile_by_id(target.gpu, profile_id)
    found = [Object((target.gpu.minor, i.id)) for i in target.gpu.gpu_instances if i.profile == profile.id]
    return len(found), *found


@answers("nvmlDeviceGetGpuInstanceById", "gu")
def _gpu_instance_by_id(call: Call, target: Target, wanted: int) -> Values:
    if not target.gpu.mig_mode:
        raise NvmlError(Return.NOT_SUPPORTED)
    if all(instance.id != wanted for instance in target.gpu.gpu_instances):
        raise NvmlError(Return.NOT_FOUND)
    return (Object((target.gpu.minor, wanted)),)


@answers("nvmlGpuInstanceGetInfo", "I")
def _gpu_instance_info(call: Call, target: Target) -> Values:
    """Device, id, profile, start, size."""
    instance = target.gpu_instance
    assert instance is not None
    return Object((target.gpu.minor,)), instance.id, instance.profile, instance.start, instance.size


# ---- compute instances ----


@answers("nvmlGpuInstanceGetComputeInstanceProfileInfo", "Iuu")
def _compute_profile_info(call: Call, target: Target, query: int, engines: int) -> Values:
    """Id, slices, count, SMs, copy engines, decoders, encoders, JPEG, OFA, name."""
    if query > 8 or engines != 0:
        raise NvmlError(Return.INVALID_ARGUMENT)
    if query not in COMPUTE_PROFILES:
        raise NvmlError(Return.NOT_SUPPORTED)
    assert target.gpu_instance is not None
    profile = profile_of(target.gpu, target.gpu_instance)
    slices = compute_slices(target.gpu, target.gpu_instance, query)
    name = profile.name if slices == profile.slices else f"{slices}c.{profile.name}"
    return (
        query,
        slices,
        len(compute_starts(target.gpu, target.gpu_instance, slices)),
        _multiprocessors(profile, slices),
        profile.copy_engines,
        profile.decoders,
        0,
        profile.jpeg,
        profile.ofa,
        f"MIG {name}",
    )


@answers("nvmlGpuInstanceGetComputeInstancePossiblePlacements", "Iu")
def _compute_placements(call: Call, target: Target, profile: int) -> Values:
    assert target.gpu_instance is not None
    slices = compute_slices(target.gpu, target.gpu_instance, profile)
    starts = compute_starts(target.gpu, target.gpu_instance, slices)
    return len(starts), *(value for start in starts for value in (start, slices))


@answers("nvmlGpuInstanceGetComputeInstanceRemainingCapacity", "Iu")
def _compute_remaining(call: Call, target: Target, profile: int) -> Values:
    assert target.gpu_instance is not None
    slices = compute_slices(target.gpu, target.gpu_instance, profile)
    return (len(free_compute_starts(target.gpu, target.gpu_instance, slices)),)


@answers("nvmlGpuInstanceCreateComputeInstance", "Iu")
def _create_compute(call: Call, target: Target, profile: int) -> Values:
    return _create_compute_at(call, target, profile, None)


@answers("nvmlGpuInstanceCreateComputeInstanceWithPlacement", "Iuuu")
def _create_compute_placed(call: Call, target: Target, profile: int, start: int, size: int) -> Values:
    assert target.gpu_instance is not None
    if size != compute_slices(target.gpu, target.gpu_instance, profile):
        raise NvmlError(Return.INVALID_ARGUMENT)
    return _create_compute_at(call, target, profile, start)


def _create_compute_at(call: Call, target: Target, profile: int, start: int | None) -> Values:
    assert target.gpu_instance is not None
    changed, created = create_compute_instance(target.gpu, target.gpu_instance, profile, start)
    _changed(call, changed)
    return (Object((changed.minor, target.gpu_instance.id, created.id)),)


@answers("nvmlComputeInstanceDestroy", "C")
def _destroy_compute(call: Call, target: Target) -> Values:
    gpu_instance, compute_instance = _instances(target)
    _changed(call, destroy_compute_instance(target.gpu, gpu_instance, compute_instance))
    return ()


@answers("nvmlGpuInstanceGetComputeInstances", "Iu")
def _compute_instances(call: Call, target: Target, profile: int) -> Values:
    instance = target.gpu_instance
    assert instance is not None
    compute_slices(target.gpu, instance, profile)
    place = (target.gpu.minor, instance.id)
    found = [Object((*place, ci.id)) for ci in instance.compute_instances if ci.profile == profile]
    return len(found), *found


@answers("nvmlGpuInstanceGetComputeInstanceById", "Iu")
def _compute_instance_by_id(call: Call, target: Target, wanted: int) -> Values:
    instance = target.gpu_instance
    assert instance is not None
    if all(compute.id != wanted for compute in instance.compute_instances):
        raise NvmlError(Return.NOT_FOUND)
    return (Object((target.gpu.minor, instance.id, wanted)),)


@answers("nvmlComputeInstanceGetInfo_v2", "C")
def _compute_instance_info(call: Call, target: Target) -> Values:
    """Device, GPU instance, id, profile, start, size."""
    gpu_instance, compute = _instances(target)
    gpu = target.gpu.minor
    return Object((gpu,)), Object((gpu, gpu_instance.id)), compute.id, compute.profile, compute.start, compute.size
