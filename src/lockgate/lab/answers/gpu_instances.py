"""MIG: GPU instances, their profiles and places."""

from typing import Final

from lockgate.lab.answers.partitioned import change, gpu_instance_of
from lockgate.lab.answers.registry import Call, Target, Values, answers
from lockgate.lab.codes import NvmlError, Return
from lockgate.lab.identity import profiles
from lockgate.lab.partition import create_gpu_instance, destroy_gpu_instance, profile_by_id, remaining
from lockgate.lab.wire import Object
from lockgate.mig.products import Profile

_GPU_PROFILES: Final = 18  # NVML_GPU_INSTANCE_PROFILE_COUNT


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
    change(call, changed)
    return (Object((changed.minor, created.id)),)


@answers("nvmlGpuInstanceDestroy", "I")
def _destroy(call: Call, target: Target) -> Values:
    change(call, destroy_gpu_instance(target.gpu, gpu_instance_of(target)))
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
    instance = gpu_instance_of(target)
    assert instance is not None
    return Object((target.gpu.minor,)), instance.id, instance.profile, instance.start, instance.size
