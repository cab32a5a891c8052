"""One NVML call, its error turned into a value."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import pynvml

from lockgate.gpu.values import Reason, Unread

T = TypeVar("T")

_REASONS: Final = {
    pynvml.NVML_ERROR_NOT_SUPPORTED: Reason.NOT_SUPPORTED,
    pynvml.NVML_ERROR_FUNCTION_NOT_FOUND: Reason.FUNCTION_NOT_FOUND,
    pynvml.NVML_ERROR_NO_PERMISSION: Reason.NO_PERMISSION,
    pynvml.NVML_ERROR_GPU_IS_LOST: Reason.LOST,
    pynvml.NVML_ERROR_RESET_REQUIRED: Reason.RESET_REQUIRED,
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: Reason.DRIVER_NOT_LOADED,
    pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: Reason.LIBRARY_NOT_FOUND,
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: Reason.VERSION_MISMATCH,
    pynvml.NVML_ERROR_NOT_FOUND: Reason.NOT_FOUND,
    pynvml.NVML_ERROR_TIMEOUT: Reason.TIMEOUT,
}
# What a caller may catch: the mismatch error of nvidia-ml-py is not one of its NVMLErrors.
ERRORS: Final = (pynvml.NVMLError, pynvml.NVMLLibraryMismatchError)


def read(call: Callable[..., T], *arguments: Any) -> T | Unread:
    """The call's result, or why there is none."""
    try:
        return call(*arguments)
    except ERRORS as error:
        return unread(error)


def unread(error: BaseException) -> Unread:
    """An NVML exception as a value."""
    if isinstance(error, pynvml.NVMLError):
        return Unread(_REASONS.get(error.value, Reason.OTHER), str(error))
    return Unread(Reason.VERSION_MISMATCH, str(error))
