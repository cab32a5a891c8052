"""MIG: compute instances within a GPU instance."""

from lockgate.lab.answers.partitioned import change, gpu_instance_of, mig_instances, multiprocessors
from lockgate.lab.answers.registry import Call, Target, Values, answers
from lockgate.lab.codes import NvmlError, Return
from lockgate.lab.identity import profile_of
from lockgate.lab.partition import (
    COMPUTE_PROFILES,
    compute_slices,
    compute_starts,
    create_compute_instance,
    destroy_compute_instance,
    free_compute_starts,
)
from lockgate.lab.wire import Object


@answers("nvmlGpuInstanceGetComputeInstanceProfileInfo", "Iuu")
def _compute_profile_info(call: Call, target: Target, query: int, engines: int) -> Values:
    """Id, slices, count, SMs, copy engines, decoders, encoders, JPEG, OFA, name."""
    if query > 8 or engines != 0:
        raise NvmlError(Return.INVALID_ARGUMENT)
    if query not in COMPUTE_PROFILES:
        raise NvmlError(Return.NOT_SUPPORTED)
    profile = profile_of(target.gpu, gpu_instance_of(target))
    slices = compute_slices(target.gpu, gpu_instance_of(target), query)
    name = profile.name if slices == profile.slices else f"{slices}c.{profile.name}"
    return (
        query,
        slices,
        len(compute_starts(target.gpu, gpu_instance_of(target), slices)),
        multiprocessors(profile, slices),
        profile.copy_engines,
        profile.decoders,
        0,
        profile.jpeg,
        profile.ofa,
        f"MIG {name}",
    )


@answers("nvmlGpuInstanceGetComputeInstancePossiblePlacements", "Iu")
def _compute_placements(call: Call, target: Target, profile: int) -> Values:
    slices = compute_slices(target.gpu, gpu_instance_of(target), profile)
    starts = compute_starts(target.gpu, gpu_instance_of(target), slices)
    return len(starts), *(value for start in starts for value in (start, slices))


@answers("nvmlGpuInstanceGetComputeInstanceRemainingCapacity", "Iu")
def _compute_remaining(call: Call, target: Target, profile: int) -> Values:
    slices = compute_slices(target.gpu, gpu_instance_of(target), profile)
    return (len(free_compute_starts(target.gpu, gpu_instance_of(target), slices)),)


@answers("nvmlGpuInstanceCreateComputeInstance", "Iu")
def _create_compute(call: Call, target: Target, profile: int) -> Values:
    return _create_compute_at(call, target, profile, None)


@answers("nvmlGpuInstanceCreateComputeInstanceWithPlacement", "Iuuu")
def _create_compute_placed(call: Call, target: Target, profile: int, start: int, size: int) -> Values:
    if size != compute_slices(target.gpu, gpu_instance_of(target), profile):
        raise NvmlError(Return.INVALID_ARGUMENT)
    return _create_compute_at(call, target, profile, start)


def _create_compute_at(call: Call, target: Target, profile: int, start: int | None) -> Values:
    changed, created = create_compute_instance(target.gpu, gpu_instance_of(target), profile, start)
    change(call, changed)
    return (Object((changed.minor, gpu_instance_of(target).id, created.id)),)


@answers("nvmlComputeInstanceDestroy", "C")
def _destroy_compute(call: Call, target: Target) -> Values:
    gpu_instance, compute_instance = mig_instances(target)
    change(call, destroy_compute_instance(target.gpu, gpu_instance, compute_instance))
    return ()


@answers("nvmlGpuInstanceGetComputeInstances", "Iu")
def _compute_instances(call: Call, target: Target, profile: int) -> Values:
    instance = gpu_instance_of(target)
    assert instance is not None
    compute_slices(target.gpu, instance, profile)
    place = (target.gpu.minor, instance.id)
    found = [Object((*place, ci.id)) for ci in instance.compute_instances if ci.profile == profile]
    return len(found), *found


@answers("nvmlGpuInstanceGetComputeInstanceById", "Iu")
def _compute_instance_by_id(call: Call, target: Target, wanted: int) -> Values:
    instance = gpu_instance_of(target)
    assert instance is not None
    if all(compute.id != wanted for compute in instance.compute_instances):
        raise NvmlError(Return.NOT_FOUND)
    return (Object((target.gpu.minor, instance.id, wanted)),)


@answers("nvmlComputeInstanceGetInfo_v2", "C")
def _compute_instance_info(call: Call, target: Target) -> Values:
    """Device, GPU instance, id, profile, start, size."""
    gpu_instance, compute = mig_instances(target)
    gpu = target.gpu.minor
    return Object((gpu,)), Object((gpu, gpu_instance.id)), compute.id, compute.profile, compute.start, compute.size
