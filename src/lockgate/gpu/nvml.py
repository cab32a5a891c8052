"""The NVML door: opens a driver root's library and reads every GPU into one frozen snapshot.

All calls must come from one thread; the waiting for events has its own (`gpu.events`). After a driver upgrade the
process must be started again, since a loaded library is never unloaded: see `stale`.
"""

import uuid as uuids
from ctypes import byref
from pathlib import Path
from typing import Any, Final

import pynvml

from lockgate.gpu import pci
from lockgate.gpu.library import UnavailableError, find_library, load_library
from lockgate.gpu.mig_devices import mig_enabled, read_mig_devices
from lockgate.gpu.reading import ERRORS, read, unread
from lockgate.gpu.values import Capability, Fabric, Gpu, Reason, Snapshot, Unread, UnreadableGpu

_MIB: Final = 1 << 20


class Nvml:
    """NVML of one driver root. `open` before anything else; `snapshot` and `open` raise UnavailableError."""

    def __init__(self, driver_root: Path, sys: Path = Path("/sys")) -> None:
        self.driver_root = driver_root
        self._sys = sys
        self._library: Path | None = None
        self._open = False

    def open(self) -> None:
        """Load the library and initialise it; a second call does nothing."""
        if self._open:
            return
        self._library = load_library(self.driver_root)
        try:
            pynvml.nvmlInit()
        except ERRORS as error:
            why = unread(error)
            raise UnavailableError(f"{self._library}: NVML does not start: {why.said}", why) from error
        self._open = True

    def close(self) -> None:
        """Shut down; handles of this process are invalid from here on. Safe to call twice."""
        if self._open:
            self._open = False
            read(pynvml.nvmlShutdown)

    @property
    def stale(self) -> bool:
        """Whether the driver root now holds another library than the one loaded: the process must start again."""
        if self._library is None:
            return False
        try:
            return find_library(self.driver_root) != self._library
        except UnavailableError:
            return False

    def snapshot(self) -> Snapshot:
        """Every GPU now. One that does not answer is in `unreadable`; it never spoils the others."""
        if not self._open:
            raise UnavailableError("NVML is not open", Unread(Reason.OTHER, "Uninitialized"))
        try:
            version, count = pynvml.nvmlSystemGetDriverVersion(), pynvml.nvmlDeviceGetCount()
        except ERRORS as error:
            why = unread(error)
            raise UnavailableError(f"{self._library}: the driver does not answer: {why.said}", why) from error
        read_gpus = [self._read(index) for index in range(count)]
        return Snapshot(
            driver_version=version,
            cuda_version=read(pynvml.nvmlSystemGetCudaDriverVersion_v2),
            gpus=tuple(gpu for gpu in read_gpus if isinstance(gpu, Gpu)),
            unreadable=tuple(gpu for gpu in read_gpus if isinstance(gpu, UnreadableGpu)),
        )

    def _read(self, index: int) -> Gpu | UnreadableGpu:
        try:
            return self._read_gpu(index, pynvml.nvmlDeviceGetHandleByIndex(index))
        except ERRORS as error:
            return UnreadableGpu(index, unread(error))

    def _read_gpu(self, index: int, handle: Any) -> Gpu:
        """Identity first: without it there is no device. Then one read that fails on a lost GPU, then the rest."""
        uuid, minor = pynvml.nvmlDeviceGetUUID(handle), pynvml.nvmlDeviceGetMinorNumber(handle)
        name, bus_id = pynvml.nvmlDeviceGetName(handle), pynvml.nvmlDeviceGetPciInfo(handle).busId
        memory = _memory(handle)
        enabled = mig_enabled(handle)
        return Gpu(
            uuid=uuid,
            index=index,
            minor=minor,
            name=name,
            bus_id=bus_id,
            pci_class=pci.pci_class(self._sys, bus_id),
            numa_node=pci.numa_node(self._sys, bus_id),
            memory_mib=memory,
            capability=_capability(handle),
            mig_enabled=enabled,
            mig=read_mig_devices(handle) if enabled else (),
            fabric=_fabric(handle),
            recovery_action=_recovery_action(handle),
            drm_nodes=pci.drm_nodes(self._sys, bus_id),
        )


def _memory(handle: Any) -> int | Unread:
    """Total memory in MiB. Names are cached by the driver, memory is not: here a lost GPU shows itself."""
    info = read(pynvml.nvmlDeviceGetMemoryInfo, handle)
    if not isinstance(info, Unread):
        return int(info.total) // _MIB
    if info.reason in (Reason.LOST, Reason.RESET_REQUIRED):
        code = pynvml.NVML_ERROR_GPU_IS_LOST if info.reason is Reason.LOST else pynvml.NVML_ERROR_RESET_REQUIRED
        raise pynvml.NVMLError(code)
    return info


def _capability(handle: Any) -> Capability | Unread:
    pair = read(pynvml.nvmlDeviceGetCudaComputeCapability, handle)
    return pair if isinstance(pair, Unread) else Capability(*pair)


def _fabric(handle: Any) -> Fabric | Unread:
    info = pynvml.c_nvmlGpuFabricInfo_v2_t()
    failed = read(pynvml.nvmlDeviceGetGpuFabricInfoV, handle, byref(info))
    if isinstance(failed, Unread):
        return failed
    cluster = str(uuids.UUID(bytes=bytes(info.clusterUuid)))
    return Fabric(state=info.state, status=info.status, cluster_uuid=cluster, clique_id=info.cliqueId)


def _recovery_action(handle: Any) -> int | Unread:
    values = read(pynvml.nvmlDeviceGetFieldValues, handle, [pynvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION])
    if isinstance(values, Unread):
        return values
    value = values[0]
    if value.nvmlReturn != pynvml.NVML_SUCCESS:
        return unread(pynvml.NVMLError(value.nvmlReturn))
    return int(value.value.uiVal)
