"""`python -m lockgate.agents.validator.cuda_probe LIBCUDA`: on each GPU, a context, memory, a copy there and back.

Prints one line; 0 when every GPU passed. It stands alone, since what it loads may crash or hang it.
"""

import ctypes
import os
import sys
from collections.abc import Sequence
from typing import Final

from lockgate.kit.counted import counted

_BYTES: Final = 1 << 20
_MEANINGS: Final = {
    100: "CUDA sees no GPU: are the device nodes in this container?",
    802: "the NVLink fabric is not ready: is nvidia-fabricmanager running, in the driver's release?",
    803: "the kernel module and libcuda are of different releases: reload the driver or reboot",
    804: "a compatibility libcuda is used on a GPU that has none",
    999: "unknown error: see dmesg for NVRM and Xid lines",
}


class CudaError(Exception):
    """A CUDA call failed; the text has its name, number, the driver's words and ours."""


class Cuda:
    """The few functions of libcuda that are needed, each raising CudaError."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)

    def call(self, name: str, *arguments: object) -> None:
        code = int(getattr(self._library, name)(*arguments))
        if code != 0:
            raise CudaError(f"{name} failed with {code} ({self._text(code)}){_meaning(code)}")

    def _text(self, code: int) -> str:
        text = ctypes.c_char_p()
        self._library.cuGetErrorString(code, ctypes.byref(text))
        return (text.value or b"no text").decode(errors="replace")


def _meaning(code: int) -> str:
    return f": {_MEANINGS[code]}" if code in _MEANINGS else ""


def probe(cuda: Cuda) -> int:
    """Test every GPU; returns their number. Raises CudaError for the first that fails."""
    cuda.call("cuInit", 0)
    count = ctypes.c_int()
    cuda.call("cuDeviceGetCount", ctypes.byref(count))
    if count.value == 0:
        raise CudaError(f"cuDeviceGetCount gave 0{_meaning(100)}")
    for ordinal in range(count.value):
        try:
            _probe_gpu(cuda, ordinal)
        except CudaError as error:
            raise CudaError(f"GPU {ordinal}: {error}") from None
    return count.value


def _probe_gpu(cuda: Cuda, ordinal: int) -> None:
    device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    sent, received = os.urandom(_BYTES), ctypes.create_string_buffer(_BYTES)
    cuda.call("cuDeviceGet", ctypes.byref(device), ordinal)
    cuda.call("cuCtxCreate_v2", ctypes.byref(context), 0, device)
    cuda.call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(_BYTES))
    cuda.call("cuMemcpyHtoD_v2", memory, sent, ctypes.c_size_t(_BYTES))
    cuda.call("cuMemcpyDtoH_v2", received, memory, ctypes.c_size_t(_BYTES))
    cuda.call("cuMemFree_v2", memory)
    cuda.call("cuCtxDestroy_v2", context)
    if received.raw != sent:
        raise CudaError("memory gave back other bytes than were written")


def main(argv: Sequence[str]) -> int:
    """Test through the library named on the command line."""
    try:
        count = probe(Cuda(argv[0]))
    except (CudaError, OSError, AttributeError) as error:
        print(error)
        return 1
    print(f"CUDA passed on {counted(count, 'GPU')}: context, memory, copy there and back")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
