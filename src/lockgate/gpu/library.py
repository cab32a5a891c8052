"""Finds and loads NVML's library below a driver root.

nvidia-ml-py has the library's name wired in and no way to say where it lies, so the loaded library is put into its
module variable before the first call.
"""

import ctypes
from pathlib import Path
from typing import Final

import pynvml

from lockgate.gpu.values import Reason, Unread

SONAME: Final = "libnvidia-ml.so.1"
FOLDERS: Final = (
    "usr/lib/x86_64-linux-gnu",  # Debian, Ubuntu
    "usr/lib/aarch64-linux-gnu",
    "usr/lib64",  # Red Hat, SUSE, Amazon
    "lib64",
    "usr/lib",  # Arch
    "lib/x86_64-linux-gnu",
    "lib/aarch64-linux-gnu",
    "usr/lib/x86_64-linux-gnu/nvidia/current",  # Debian's own packages
    "usr/lib/aarch64-linux-gnu/nvidia/current",
    "usr/local/nvidia/lib64",  # Google's COS
    "opt/nvidia/lib64",
    "home/kubernetes/bin/nvidia/lib64",
    "usr/lib/wsl/lib",
)


class UnavailableError(Exception):
    """NVML cannot be used; `why` is the reason in a form that code can ask."""

    def __init__(self, message: str, why: Unread) -> None:
        super().__init__(message)
        self.why = why


def find_library(root: Path) -> Path:
    """The library's real path below this root; raises UnavailableError that names every folder searched."""
    for folder in FOLDERS:
        candidate = root / folder / SONAME
        if candidate.exists():
            return candidate.resolve()
    searched = ", ".join(FOLDERS)
    raise UnavailableError(
        f"{SONAME} is in none of the library folders of the driver root {root} (searched {searched}): is the driver "
        "installed there, and is it mounted into this container?",
        Unread(Reason.LIBRARY_NOT_FOUND),
    )


def load_library(root: Path) -> Path:
    """Load the root's library, or the system's own when the root is `/`, into nvidia-ml-py; returns its path."""
    path = find_library(root)
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        why = Unread(Reason.LIBRARY_NOT_FOUND, str(error))
        raise UnavailableError(f"{path} cannot be loaded: {error}", why) from error
    if pynvml.nvmlLib is not None and pynvml.nvmlLib._name != str(path):
        pynvml._nvmlGetFunctionPointer_cache.clear()  # it holds the former library's functions
    pynvml.nvmlLib = library
    return path
