"""MIG on one GPU, as a pure model: which instance fits where, what creating and destroying makes of the GPU."""

from typing import Final

import msgspec

from lockgate.lab.codes import NvmlError, Return
from lockgate.lab.identity import profile_of, profiles
from lockgate.lab.state import ComputeInstance, Gpu, GpuInstance
from lockgate.mig.products import Profile

# First id of the instances of each size in memory slices; ids follow from the place, as seen on real boards.
_FIRST_IDS: Final = {8: 0, 4: 1, 2: 3, 1: 7}

# Compute slices -> the step between the places of such a compute instance.
_COMPUTE_STEPS: Final = {1: 1, 2: 2, 3: 4, 4: 4, 7: 7}

# NVML_COMPUTE_INSTANCE_PROFILE_*: the enum of each size in slices; the id on the device is the same number.
COMPUTE_PROFILES: Final = {0: 1, 1: 2, 2: 3, 3: 4, 4: 7}


def profile_by_id(gpu: Gpu, profile_id: int) -> Profile:
    """The board's profile with this id; NvmlError(INVALID_ARGUMENT) when it has none such."""
    for profile in profiles(gpu):
        if profile.id == profile_id:
            return profile
    raise NvmlError(Return.INVALID_ARGUMENT)


def free_starts(gpu: Gpu, profile: Profile) -> list[int]:
    """Where one more instance of the profile fits now."""
    same = [instance for instance in gpu.gpu_instances if instance.profile == profile.id]
    if len(same) >= profile.max_count:
        return []
    taken = {slot for instance in gpu.gpu_instances for slot in range(instance.start, instance.start + instance.size)}
    return [start for start in profile.starts if taken.isdisjoint(range(start, start + profile.size))]


def remaining(gpu: Gpu, profile: Profile) -> int:
    """How many more instances of the profile can be created."""
    count = 0
    while starts := free_starts(gpu, profile):
        gpu = _with_gpu_instance(gpu, profile, starts[-1])[0]
        count += 1
    return count


def create_gpu_instance(gpu: Gpu, profile: Profile, start: int | None = None) -> tuple[Gpu, GpuInstance]:
    """The GPU with one more instance; without a start it goes to the last free place, as the driver does."""
    if not gpu.mig_mode:
        raise NvmlError(Return.NOT_SUPPORTED)
    if start is not None and start not in profile.starts:
        raise NvmlError(Return.INVALID_ARGUMENT)
    free = free_starts(gpu, profile)
    if not free or (start is not None and start not in free):
        raise NvmlError(Return.INSUFFICIENT_RESOURCES)
    return _with_gpu_instance(gpu, profile, free[-1] if start is None else start)


def _with_gpu_instance(gpu: Gpu, profile: Profile, start: int) -> tuple[Gpu, GpuInstance]:
    created = GpuInstance(id=_instance_id(profile.size, start), profile=profile.id, start=start, size=profile.size)
    instances = sorted((*gpu.gpu_instances, created), key=lambda instance: instance.id)
    return msgspec.structs.replace(gpu, gpu_instances=tuple(instances)), created


def _instance_id(size: int, start: int) -> int:
    first = _FIRST_IDS[size]
    return first + (4 - start) // 4 if size == 4 else first + start // size


def destroy_gpu_instance(gpu: Gpu, gone: GpuInstance) -> Gpu:
    """The GPU without the instance; IN_USE while it has compute instances."""
    if gone.compute_instances:
        raise NvmlError(Return.IN_USE)
    return msgspec.structs.replace(gpu, gpu_instances=tuple(i for i in gpu.gpu_instances if i.id != gone.id))


def compute_slices(gpu: Gpu, gpu_instance: GpuInstance, profile: int) -> int:
    """The slices of a compute instance profile in this GPU instance; NvmlError when it is not offered there."""
    if profile not in COMPUTE_PROFILES:
        raise NvmlError(Return.INVALID_ARGUMENT)
    whole, slices = profile_of(gpu, gpu_instance).slices, COMPUTE_PROFILES[profile]
    if slices > whole or (slices == 3 and whole == 4):
        raise NvmlError(Return.NOT_SUPPORTED)
    return slices


def compute_starts(gpu: Gpu, gpu_instance: GpuInstance, slices: int) -> list[int]:
    """Every place of a compute instance of that size, taken or free."""
    return list(range(0, profile_of(gpu, gpu_instance).slices - slices + 1, _COMPUTE_STEPS[slices]))


def free_compute_starts(gpu: Gpu, gpu_instance: GpuInstance, slices: int) -> list[int]:
    """Where one more compute instance of that size fits now."""
    taken = {slot for ci in gpu_instance.compute_instances for slot in range(ci.start, ci.start + ci.size)}
    places = compute_starts(gpu, gpu_instance, slices)
    return [start for start in places if taken.isdisjoint(range(start, start + slices))]


def create_compute_instance(
    gpu: Gpu, gpu_instance: GpuInstance, profile: int, start: int | None = None
) -> tuple[Gpu, ComputeInstance]:
    """The GPU with one more compute instance in that GPU instance."""
    slices = compute_slices(gpu, gpu_instance, profile)
    if start is not None and start not in compute_starts(gpu, gpu_instance, slices):
        raise NvmlError(Return.INVALID_ARGUMENT)
    free = free_compute_starts(gpu, gpu_instance, slices)
    if not free or (start is not None and start not in free):
        raise NvmlError(Return.INSUFFICIENT_RESOURCES)
    used = {instance.id for instance in gpu_instance.compute_instances}
    created = ComputeInstance(
        id=min(set(range(8)) - used), profile=profile, start=free[0] if start is None else start, size=slices
    )
    return _with_compute_instances(gpu, gpu_instance, (*gpu_instance.compute_instances, created)), created


def destroy_compute_instance(gpu: Gpu, gpu_instance: GpuInstance, gone: ComputeInstance) -> Gpu:
    """The GPU without the compute instance; IN_USE while a process holds it."""
    place = (gpu_instance.id, gone.id)
    if any((process.gpu_instance, process.compute_instance) == place for process in gpu.processes):
        raise NvmlError(Return.IN_USE)
    kept = tuple(instance for instance in gpu_instance.compute_instances if instance.id != gone.id)
    return _with_compute_instances(gpu, gpu_instance, kept)


def _with_compute_instances(gpu: Gpu, changed: GpuInstance, instances: tuple[ComputeInstance, ...]) -> Gpu:
    new = msgspec.structs.replace(changed, compute_instances=tuple(sorted(instances, key=lambda i: i.id)))
    return msgspec.structs.replace(
        gpu, gpu_instances=tuple(new if instance.id == new.id else instance for instance in gpu.gpu_instances)
    )


def set_mig_mode(gpu: Gpu, wanted: bool) -> tuple[Gpu, int]:
    """The GPU after the request, and the activation status: a GPU in use takes the mode at its next reset."""
    if not profiles(gpu):
        raise NvmlError(Return.NOT_SUPPORTED)
    if gpu.gpu_instances and not wanted:
        raise NvmlError(Return.IN_USE)
    if gpu.processes and gpu.mig_mode != wanted:
        return msgspec.structs.replace(gpu, mig_pending=wanted), Return.IN_USE
    return msgspec.structs.replace(gpu, mig_mode=wanted, mig_pending=wanted), Return.SUCCESS
