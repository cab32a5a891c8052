"""Errors and repairs: ECC counters, retired pages, remapped rows, violations, field values."""

import time
from collections.abc import Callable
from typing import Final

from lockgate.lab.answers.registry import Call, Target, Values, answers
from lockgate.lab.codes import NvmlError, Return
from lockgate.lab.state import Ecc, Gpu, Repairs

_CORRECTED, _UNCORRECTED = 0, 1
_VOLATILE, _AGGREGATE = 0, 1
_DEVICE_MEMORY: Final = 2  # NVML_MEMORY_LOCATION_*; the simulated errors are all in device memory


@answers("nvmlDeviceGetEccMode", "g")
def _ecc_mode(call: Call, target: Target) -> Values:
    return target.gpu.ecc.enabled, target.gpu.ecc.pending


@answers("nvmlDeviceGetDefaultEccMode", "g")
def _default_ecc_mode(call: Call, target: Target) -> Values:
    return (1,)


@answers("nvmlDeviceGetTotalEccErrors", "guu")
def _total_ecc(call: Call, target: Target, error: int, counter: int) -> Values:
    return (_ecc_count(target.gpu.ecc, error, counter),)


@answers("nvmlDeviceGetMemoryErrorCounter", "guuu")
def _memory_errors(call: Call, target: Target, error: int, counter: int, location: int) -> Values:
    if location > 7:
        raise NvmlError(Return.INVALID_ARGUMENT)
    count = _ecc_count(target.gpu.ecc, error, counter)
    return (count if location == _DEVICE_MEMORY else 0,)


def _ecc_count(ecc: Ecc, error: int, counter: int) -> int:
    if not ecc.enabled:
        raise NvmlError(Return.NOT_SUPPORTED)
    counts = {
        (_CORRECTED, _VOLATILE): ecc.volatile_corrected,
        (_UNCORRECTED, _VOLATILE): ecc.volatile_uncorrected,
        (_CORRECTED, _AGGREGATE): ecc.aggregate_corrected,
        (_UNCORRECTED, _AGGREGATE): ecc.aggregate_uncorrected,
    }
    if (error, counter) not in counts:
        raise NvmlError(Return.INVALID_ARGUMENT)
    return counts[error, counter]


@answers("nvmlDeviceGetRemappedRows", "g")
def _remapped_rows(call: Call, target: Target) -> Values:
    repairs = _repairs(target.gpu, by_row=True)
    return repairs.corrected, repairs.uncorrected, repairs.pending, repairs.failed


@answers("nvmlDeviceGetRowRemapperHistogram", "g")
def _histogram(call: Call, target: Target) -> Values:
    """Banks by remappings left: all, most, some, few, none."""
    repairs = _repairs(target.gpu, by_row=True)
    used = min(640, repairs.corrected + repairs.uncorrected)
    return 640 - used, used, 0, 0, 0


@answers("nvmlDeviceGetRetiredPages_v2", "gu")
def _retired_pages(call: Call, target: Target, cause: int) -> Values:
    """How many pages, then an address and a time of each."""
    if cause > 1:
        raise NvmlError(Return.INVALID_ARGUMENT)
    repairs = _repairs(target.gpu, by_row=False)
    count = (repairs.corrected, repairs.uncorrected)[cause]
    pages = [value for page in range(count) for value in (0x2F000 + 0x1000 * page, 1_700_000_000 + page)]
    return count, *pages


@answers("nvmlDeviceGetRetiredPagesPendingStatus", "g")
def _retired_pending(call: Call, target: Target) -> Values:
    return (_repairs(target.gpu, by_row=False).pending,)


def _repairs(gpu: Gpu, by_row: bool) -> Repairs:
    """The repairs of this GPU; boards know one way of repair, and not the other."""
    if gpu.product.row_remapping != by_row:
        raise NvmlError(Return.NOT_SUPPORTED)
    return gpu.repairs


@answers("nvmlDeviceGetViolationStatus", "gu")
def _violation(call: Call, target: Target, policy: int) -> Values:
    """Reference time in microseconds, violation time in nanoseconds."""
    if policy not in (0, 1, 2, 3, 4, 5, 10, 11):
        raise NvmlError(Return.INVALID_ARGUMENT)
    return int(time.time() * 1e6), 0


_UINT, _ULONGLONG, _INT = 1, 3, 5  # nvmlValueType_t

# NVML_FI_DEV_*: the type of the field and its value.
_FIELDS: Final[dict[int, tuple[int, Callable[[Gpu], int | None]]]] = {
    1: (_UINT, lambda gpu: int(gpu.ecc.enabled)),
    2: (_UINT, lambda gpu: int(gpu.ecc.pending)),
    3: (_ULONGLONG, lambda gpu: gpu.ecc.volatile_corrected),
    4: (_ULONGLONG, lambda gpu: gpu.ecc.volatile_uncorrected),
    5: (_ULONGLONG, lambda gpu: gpu.ecc.aggregate_corrected),
    6: (_ULONGLONG, lambda gpu: gpu.ecc.aggregate_uncorrected),
    29: (_ULONGLONG, lambda gpu: None if gpu.product.row_remapping else gpu.repairs.corrected),
    30: (_ULONGLONG, lambda gpu: None if gpu.product.row_remapping else gpu.repairs.uncorrected),
    31: (_ULONGLONG, lambda gpu: None if gpu.product.row_remapping else int(gpu.repairs.pending)),
    38: (_ULONGLONG, lambda gpu: gpu.nvlink_errors if gpu.product.nvlinks else None),
    45: (_ULONGLONG, lambda gpu: gpu.nvlink_errors if gpu.product.nvlinks else None),
    52: (_ULONGLONG, lambda gpu: gpu.nvlink_errors if gpu.product.nvlinks else None),
    59: (_ULONGLONG, lambda gpu: gpu.nvlink_errors if gpu.product.nvlinks else None),
    82: (_UINT, lambda gpu: gpu.temperature_memory if gpu.product.temperature_memory_max else None),
    83: (_ULONGLONG, lambda gpu: gpu.energy),
    91: (_UINT, lambda gpu: gpu.product.nvlinks or None),
    94: (_ULONGLONG, lambda gpu: gpu.pcie_replays),
    142: (_UINT, lambda gpu: gpu.repairs.corrected if gpu.product.row_remapping else None),
    143: (_UINT, lambda gpu: gpu.repairs.uncorrected if gpu.product.row_remapping else None),
    144: (_UINT, lambda gpu: int(gpu.repairs.pending) if gpu.product.row_remapping else None),
    145: (_UINT, lambda gpu: int(gpu.repairs.failed) if gpu.product.row_remapping else None),
    147: (_UINT, lambda gpu: gpu.product.nvlinks - len(gpu.nvlinks_down) or None),
    184: (_UINT, lambda gpu: int(gpu.product.resetless_mig)),
    185: (_UINT, lambda gpu: gpu.power_draw),
    186: (_UINT, lambda gpu: gpu.power_draw),
    187: (_UINT, lambda gpu: gpu.product.power_min),
    188: (_UINT, lambda gpu: gpu.product.power_max),
    189: (_UINT, lambda gpu: gpu.product.power_max),
    190: (_UINT, lambda gpu: gpu.power_limit),
    192: (_UINT, lambda gpu: gpu.power_limit),
    226: (_UINT, lambda gpu: int(gpu.reset_required)),
    230: (_UINT, lambda gpu: gpu.recovery_action),
}


@answers("nvmlDeviceGetFieldValues", "guu")
def _field(call: Call, target: Target, field: int, scope: int) -> Values:
    """The type and value of one field."""
    kind, read = _FIELDS.get(field, (0, lambda gpu: None))
    value = read(target.gpu)
    if value is None:
        raise NvmlError(Return.NOT_SUPPORTED)
    return kind, value
