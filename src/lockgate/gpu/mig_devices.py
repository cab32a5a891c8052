"""Reads the MIG devices of one GPU."""

from typing import Any

import pynvml

from lockgate.gpu.reading import ERRORS, read
from lockgate.gpu.values import Engines, MigDevice, Unread
from lockgate.mig.profile_name import profile_name

_PROFILES = pynvml.NVML_GPU_INSTANCE_PROFILE_COUNT


def mig_enabled(handle: Any) -> bool | None:
    """Whether MIG is on now; None when the board has none, or does not tell."""
    mode = read(pynvml.nvmlDeviceGetMigMode, handle)
    return None if isinstance(mode, Unread) else mode[0] == pynvml.NVML_DEVICE_MIG_ENABLE


def read_mig_devices(handle: Any) -> tuple[MigDevice, ...]:
    """The MIG devices, in NVML's order; one that vanishes while it is read is left out."""
    count = read(pynvml.nvmlDeviceGetMaxMigDeviceCount, handle)
    if isinstance(count, Unread):
        return ()
    queries = _profile_queries(handle)
    found = []
    for index in range(count):
        try:
            found.append(
                _read_device(handle, pynvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index), index, queries)
            )
        except ERRORS:  # no device at this index, or gone since
            continue
    return tuple(found)


def _profile_queries(handle: Any) -> dict[int, int]:
    """Profile id -> the query number that leads to it, which carries the suffix of its name."""
    found = {}
    for query in range(_PROFILES):
        info = read(pynvml.nvmlDeviceGetGpuInstanceProfileInfo, handle, query)
        if not isinstance(info, Unread):
            found[info.id] = query
    return found


def _read_device(parent: Any, handle: Any, index: int, queries: dict[int, int]) -> MigDevice:
    attributes = pynvml.nvmlDeviceGetAttributes_v2(handle)
    gpu_instance = pynvml.nvmlDeviceGetGpuInstanceId(handle)
    memory = int(attributes.memorySizeMB)
    name = profile_name(
        attributes.computeInstanceSliceCount,
        attributes.gpuInstanceSliceCount,
        memory,
        pynvml.nvmlDeviceGetMemoryInfo(parent).total,
        _query(parent, gpu_instance, queries),
    )
    return MigDevice(
        uuid=pynvml.nvmlDeviceGetUUID(handle),
        index=index,
        gpu_instance=gpu_instance,
        compute_instance=pynvml.nvmlDeviceGetComputeInstanceId(handle),
        profile=name.text,
        memory_mib=memory,
        gpu_slices=attributes.gpuInstanceSliceCount,
        compute_slices=attributes.computeInstanceSliceCount,
        engines=_engines(attributes),
    )


def _query(parent: Any, gpu_instance: int, queries: dict[int, int]) -> int | None:
    instance = read(pynvml.nvmlDeviceGetGpuInstanceById, parent, gpu_instance)
    info = instance if isinstance(instance, Unread) else read(pynvml.nvmlGpuInstanceGetInfo, instance)
    return None if isinstance(info, Unread) else queries.get(info.profileId)


def _engines(attributes: Any) -> Engines:
    return Engines(
        multiprocessors=attributes.multiprocessorCount,
        copy=attributes.sharedCopyEngineCount,
        decoder=attributes.sharedDecoderCount,
        encoder=attributes.sharedEncoderCount,
        jpeg=attributes.sharedJpegCount,
        ofa=attributes.sharedOfaCount,
    )
