"""The numbers of NVML and CUDA that the simulated driver answers with, as nvml.h and cuda.h name them."""

from enum import IntEnum, IntFlag
from typing import Final


class Return(IntEnum):
    """`nvmlReturn_t`."""

    SUCCESS = 0
    UNINITIALIZED = 1
    INVALID_ARGUMENT = 2
    NOT_SUPPORTED = 3
    NO_PERMISSION = 4
    NOT_FOUND = 6
    INSUFFICIENT_SIZE = 7
    DRIVER_NOT_LOADED = 9
    TIMEOUT = 10
    FUNCTION_NOT_FOUND = 13
    GPU_IS_LOST = 15
    RESET_REQUIRED = 16
    LIB_RM_VERSION_MISMATCH = 18
    IN_USE = 19
    MEMORY = 20
    INSUFFICIENT_RESOURCES = 23
    UNKNOWN = 999


class CudaError(IntEnum):
    """`CUresult`, the part that start-up and allocation can meet."""

    SUCCESS = 0
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    NOT_INITIALIZED = 3
    DEVICES_UNAVAILABLE = 46
    NO_DEVICE = 100
    INVALID_DEVICE = 101
    INVALID_CONTEXT = 201
    ECC_UNCORRECTABLE = 214
    SYSTEM_NOT_READY = 802
    SYSTEM_DRIVER_MISMATCH = 803
    COMPAT_NOT_SUPPORTED_ON_DEVICE = 804
    UNKNOWN = 999


class Event(IntFlag):
    """`nvmlEventType*`."""

    SINGLE_BIT_ECC = 0x1
    DOUBLE_BIT_ECC = 0x2
    PSTATE = 0x4
    XID = 0x8
    CLOCK = 0x10
    POWER_SOURCE = 0x80
    MIG_CONFIG_CHANGE = 0x100


class FabricState(IntEnum):
    """`NVML_GPU_FABRIC_STATE_*`."""

    NOT_SUPPORTED = 0
    NOT_STARTED = 1
    IN_PROGRESS = 2
    COMPLETED = 3


class NvmlError(Exception):
    """A call ends with this return code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"NVML return code {int(code)}")
        self.code = int(code)


NO_INSTANCE: Final = 0xFFFFFFFF  # "not MIG" in event data and process lists
