"""What NVML says, as frozen values. Memory in MiB; a read that failed is an `Unread` with its reason, never a guess."""

from enum import StrEnum
from typing import TypeVar

import msgspec

T = TypeVar("T")


class Reason(StrEnum):
    """Why a read gave no value."""

    NOT_SUPPORTED = "not supported"
    FUNCTION_NOT_FOUND = "function not found"
    NO_PERMISSION = "no permission"
    LOST = "GPU is lost"
    RESET_REQUIRED = "GPU requires a reset"
    DRIVER_NOT_LOADED = "driver not loaded"
    LIBRARY_NOT_FOUND = "NVML library not found"
    VERSION_MISMATCH = "driver and library versions differ"
    NOT_FOUND = "not found"
    TIMEOUT = "timeout"
    OTHER = "error"


class Unread(msgspec.Struct, frozen=True):
    """A value that could not be read; `text` is NVML's own error text."""

    reason: Reason
    text: str = ""

    @property
    def said(self) -> str:
        """NVML's words, or ours where it has none."""
        return self.text or self.reason.value


class Capability(msgspec.Struct, frozen=True, order=True):
    """CUDA compute capability."""

    major: int
    minor: int


class Engines(msgspec.Struct, frozen=True):
    """What of the GPU a MIG device has."""

    multiprocessors: int
    copy: int
    decoder: int
    encoder: int
    jpeg: int
    ofa: int


class MigDevice(msgspec.Struct, frozen=True):
    """A compute instance of a GPU instance; `index` counts on its GPU, `profile` is as nvidia-smi names it."""

    uuid: str
    index: int
    gpu_instance: int
    compute_instance: int
    profile: str
    memory_mib: int
    gpu_slices: int
    compute_slices: int
    engines: Engines

    @property
    def has_graphics(self) -> bool:
        """Whether its profile is one with graphics, `1g.24gb+gfx`."""
        return self.profile.endswith("+gfx")


class Fabric(msgspec.Struct, frozen=True):
    """Registration with the NVLink fabric: `state` 3 is completed, `status` an NVML return code."""

    state: int
    status: int
    cluster_uuid: str
    clique_id: int


class Gpu(msgspec.Struct, frozen=True):
    """One physical GPU that answers.

    `numa_node` None: the host names none. `mig_enabled` None: the board has no MIG. `recovery_action` is the driver's
    own word on what the GPU needs (0 none, 1 GPU reset, 2 reboot, ...); Unread before R550. `drm_nodes` are its device
    nodes for graphics (`/dev/dri/card1`), as sysfs names them.
    """

    uuid: str
    index: int
    minor: int
    name: str
    bus_id: str
    pci_class: int | None
    numa_node: int | None
    memory_mib: int | Unread
    capability: Capability | Unread
    mig_enabled: bool | None
    mig: tuple[MigDevice, ...]
    fabric: Fabric | Unread
    recovery_action: int | Unread
    drm_nodes: tuple[str, ...] = ()


class UnreadableGpu(msgspec.Struct, frozen=True):
    """A GPU that the driver counts but that does not tell its identity: lost, or waiting for a reset."""

    index: int
    why: Unread


class Snapshot(msgspec.Struct, frozen=True):
    """All GPUs of one moment. `cuda_version` is 1000 * major + 10 * minor."""

    driver_version: str
    cuda_version: int | Unread
    gpus: tuple[Gpu, ...]
    unreadable: tuple[UnreadableGpu, ...] = ()


class XidEvent(msgspec.Struct, frozen=True):
    """The driver reported XID `code` for a GPU; instances are None when the event is about the whole GPU.

    `uuid` is empty when the GPU could not be asked any more.
    """

    uuid: str
    code: int
    gpu_instance: int | None = None
    compute_instance: int | None = None


class EventsLost(msgspec.Struct, frozen=True):
    """Waiting for events failed: what happened meanwhile is not known."""

    why: Unread


Event = XidEvent | EventsLost


def known(value: T | Unread, otherwise: T) -> T:
    """The value, or `otherwise` when it could not be read."""
    return otherwise if isinstance(value, Unread) else value
