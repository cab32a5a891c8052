"""The state of a simulated driver: frozen values, changed by replace, JSON in and out.

Units are NVML's: bytes, milliwatts, millijoules, MHz, degrees Celsius, percent, KB/s for PCIe.
"""

import uuid
from typing import Any, Final

import msgspec

from lockgate.lab.boards import BOARDS, Board, Clocks
from lockgate.lab.codes import FabricState

DRIVER_VERSION: Final = "580.95.05"
CUDA_VERSION: Final = 13000  # what an R580 driver offers, as 1000 * major + 10 * minor

_NAMESPACE: Final = uuid.UUID("6c6f636b-6761-5e67-8000-6c616200cafe")

# Bus numbers of the eight GPUs of an HGX board; further ones follow upwards.
_BUSES: Final = (0x07, 0x0F, 0x47, 0x4E, 0x87, 0x90, 0xB7, 0xBD)


class Process(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A process that holds a GPU: `pid` in the machine's own PID namespace, `memory` in bytes."""

    pid: int
    memory: int
    name: str = "[Not Found]"
    graphics: bool = False
    gpu_instance: int | None = None
    compute_instance: int | None = None
    utilization: int = 0


class ComputeInstance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A compute instance: `start` and `size` in compute slices of its GPU instance."""

    id: int
    profile: int
    start: int
    size: int


class GpuInstance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A GPU instance: `start` and `size` in memory slices of its GPU."""

    id: int
    profile: int
    start: int
    size: int
    compute_instances: tuple[ComputeInstance, ...] = ()


class Ecc(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Error counts since boot (`volatile`) and since manufacture (`aggregate`)."""

    enabled: bool = True
    pending: bool = True
    volatile_corrected: int = 0
    volatile_uncorrected: int = 0
    aggregate_corrected: int = 0
    aggregate_uncorrected: int = 0


class Repairs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rows remapped (Ampere and newer) or pages retired (older boards), by corrected and uncorrected errors."""

    corrected: int = 0
    uncorrected: int = 0
    pending: bool = False
    failed: bool = False


class Fabric(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Registration with the NVLink fabric: `state` as FabricState, `status` an NVML return code."""

    state: int = FabricState.NOT_SUPPORTED
    status: int = 0
    cluster_uuid: str = "00000000-0000-0000-0000-000000000000"
    clique_id: int = 0
    health_mask: int = 0


class Gpu(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One GPU now. What its product fixes is in `BOARDS[gpu.board]`."""

    board: str
    minor: int
    uuid: str
    serial: str
    bus_id: str  # 00000000:07:00.0
    numa_node: int = 0
    lost: bool = False
    reset_required: bool = False
    recovery_action: int = 0  # NVML_GPU_RECOVERY_ACTION_*
    processes: tuple[Process, ...] = ()
    utilization_gpu: int = 0
    utilization_memory: int = 0
    utilization_encoder: int = 0
    utilization_decoder: int = 0
    temperature: int = 30
    temperature_memory: int = 32
    power_draw: int
    power_limit: int
    energy: int = 0
    clocks: Clocks
    performance_state: int = 0
    clocks_event_reasons: int = 0x1  # idle
    persistence_mode: bool = True
    compute_mode: int = 0
    ecc: Ecc = Ecc()
    repairs: Repairs = Repairs()
    pcie_generation: int
    pcie_width: int
    pcie_replays: int = 0
    pcie_tx: int = 0
    pcie_rx: int = 0
    nvlinks_down: tuple[int, ...] = ()
    nvlink_errors: int = 0
    fabric: Fabric = Fabric()
    mig_mode: bool = False
    mig_pending: bool = False
    gpu_instances: tuple[GpuInstance, ...] = ()

    @property
    def product(self) -> Board:
        """The facts of this GPU's board."""
        return BOARDS[self.board]

    @property
    def memory_used(self) -> int:
        """Bytes that processes hold."""
        return sum(process.memory for process in self.processes)

    @property
    def memory_free(self) -> int:
        """Bytes that a process could still get."""
        return max(0, self.product.memory - self.product.memory_reserved - self.memory_used)


class Driver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The kernel driver and its GPUs, in PCI order.

    `failures` forces the return code of a function by name, whatever the state; `cuda_error` that of cuInit.
    """

    version: str = DRIVER_VERSION
    cuda_version: int = CUDA_VERSION
    loaded: bool = True
    cuda_error: int = 0
    failures: dict[str, int] = {}
    gpus: tuple[Gpu, ...] = ()

    def gpu(self, minor: int) -> Gpu | None:
        """The GPU whose device node is /dev/nvidia<minor>."""
        return next((gpu for gpu in self.gpus if gpu.minor == minor), None)

    def with_gpu(self, changed: Gpu) -> "Driver":
        """The same driver with this GPU in place of the one with its minor number."""
        gpus = tuple(changed if gpu.minor == changed.minor else gpu for gpu in self.gpus)
        return msgspec.structs.replace(self, gpus=gpus)


def new_driver(
    boards: tuple[Board, ...], seed: str = "node", version: str = DRIVER_VERSION, cuda_version: int = CUDA_VERSION
) -> Driver:
    """A healthy, idle driver with these boards; identities follow from the seed alone."""
    gpus = tuple(_new_gpu(board, minor, seed) for minor, board in enumerate(boards))
    return Driver(version=version, cuda_version=cuda_version, gpus=gpus)


def _new_gpu(board: Board, minor: int, seed: str) -> Gpu:
    identity = uuid.uuid5(_NAMESPACE, f"{seed}/{minor}")
    return Gpu(
        board=board.key,
        minor=minor,
        uuid=f"GPU-{identity}",
        serial=str(1_320_000_000_000 + identity.int % 1_000_000_000),
        bus_id=f"00000000:{_bus(minor):02X}:00.0",
        power_draw=board.power_idle,
        power_limit=board.power_max,
        clocks=board.clocks_idle,
        performance_state=8 if board.nvlinks == 0 else 0,
        pcie_generation=board.pcie_generation,
        pcie_width=board.pcie_width,
        fabric=Fabric(state=FabricState.COMPLETED if board.fabric else FabricState.NOT_SUPPORTED),
    )


def _bus(minor: int) -> int:
    return _BUSES[minor] if minor < len(_BUSES) else 0xC1 + minor - len(_BUSES)


def edit_gpu(gpu: Gpu, fields: dict[str, Any]) -> Gpu:
    """The GPU with these fields changed, nested objects merged. ValueError says which field does not fit and why."""
    merged = _merge(msgspec.to_builtins(gpu), fields)
    try:
        return msgspec.convert(merged, Gpu)
    except msgspec.ValidationError as error:
        raise ValueError(f"GPU {gpu.minor}: {error}") from error


def reset_gpu(gpu: Gpu) -> Gpu:
    """The GPU after `nvidia-smi --gpu-reset`: back on the bus, pending modes and repairs in force.

    ValueError names the processes that keep it from being reset.
    """
    if gpu.processes:
        holders = ", ".join(str(process.pid) for process in gpu.processes)
        raise ValueError(f"GPU {gpu.minor}: in use by process {holders}")
    return msgspec.structs.replace(
        gpu,
        lost=False,
        reset_required=False,
        recovery_action=0,
        mig_mode=gpu.mig_pending,
        gpu_instances=gpu.gpu_instances if gpu.mig_mode == gpu.mig_pending else (),
        ecc=msgspec.structs.replace(gpu.ecc, enabled=gpu.ecc.pending, volatile_corrected=0, volatile_uncorrected=0),
        repairs=msgspec.structs.replace(gpu.repairs, pending=False),
    )


def _merge(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    merged = dict(old)
    for key, value in new.items():
        both_objects = isinstance(value, dict) and isinstance(old.get(key), dict)
        merged[key] = _merge(old[key], value) if both_objects else value
    return merged
