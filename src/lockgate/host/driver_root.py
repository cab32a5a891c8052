"""The files of an NVIDIA driver under a root: a driver container's (`/run/nvidia/driver`) or the host's own `/`.

Which files make up a driver: `nvidia-ctk cdi generate` of NVIDIA's container toolkit 1.20. Links inside the root are
followed and never lead out of it.
"""

import fnmatch
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lockgate.cdi.driver_files import DriverFiles, File, Library
from lockgate.host.elf import read_elf
from lockgate.host.rooted import Root

# In the order in which the toolkit looks; the first with a driver decides version and machine.
LIBRARY_DIRECTORIES: Final = (
    "/usr/lib/x86_64-linux-gnu",  # Debian, Ubuntu
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",  # Red Hat, SUSE, Amazon
    "/lib64",
    "/usr/lib",  # Arch
    "/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",  # Debian's own packages
    "/usr/lib/aarch64-linux-gnu/nvidia/current",
    "/usr/local/lib/x86_64-linux-gnu",
    "/usr/local/nvidia/lib64",  # Google's COS
    "/opt/nvidia/lib64",
    "/home/kubernetes/bin/nvidia/lib64",
)
BINARY_DIRECTORIES: Final = ("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/nvidia/bin", "/opt/bin")
BINARIES: Final = (
    "nvidia-smi",
    "nvidia-debugdump",
    "nvidia-persistenced",
    "nvidia-cuda-mps-control",
    "nvidia-cuda-mps-server",
    "nvidia-imex",
    "nvidia-imex-ctl",
)
# directory on the host, pattern, {version} filled in; the file keeps its path
FILES: Final = (
    ("/lib/firmware/nvidia/{version}", "gsp*.bin"),
    ("/usr/lib/firmware/nvidia/{version}", "gsp*.bin"),
    ("/usr/share/nvidia", "nvoptix.bin"),
    ("/usr/share/nvidia", "nvidia-application-profiles-{version}-*"),
    ("/usr/share/glvnd/egl_vendor.d", "10_nvidia.json"),
    ("/usr/share/egl/egl_external_platform.d", "*nvidia*.json"),
    ("/etc/vulkan/icd.d", "nvidia_icd.json"),
    ("/usr/share/vulkan/icd.d", "nvidia_icd.json"),
    ("/etc/vulkan/implicit_layer.d", "nvidia_layers.json"),
    ("/usr/share/vulkan/implicit_layer.d", "nvidia_layers.json"),
    ("/etc/OpenCL/vendors", "nvidia.icd"),
)
SOCKETS: Final = (
    "/run/nvidia-persistenced/socket",
    "/run/nvidia-fabricmanager/socket",
    "/tmp/nvidia-mps",  # the pipes of the MPS daemon
)
# Libraries of the driver that carry a version of their own.
_OTHER_VERSIONS: Final = (
    "libnvidia-nvvm70.so.*",
    "libnvidia-egl-gbm.so.*.*",
    "libnvidia-egl-wayland*.so.*.*",
    "libnvidia-egl-xcb.so.*.*",
    "libnvidia-egl-xlib.so.*.*",
    "libnvidia-vulkan-producer.so.*.*",
)
# Names without a version by which programs load these at run time: NVIDIA's toolkit makes links for them.
_BARE_NAMES: Final = {"libcuda.so.1": "libcuda.so", "libnvidia-opticalflow.so.1": "libnvidia-opticalflow.so"}

_DECIDING: Final = re.compile(r"lib(?:nvidia-ml|cuda)\.so\.([0-9]+\.[0-9.]*[0-9])")


class DriverNotFoundError(Exception):
    """No driver under a root; the text says where was looked and for what."""


def find(root: Path) -> DriverFiles:
    """The driver's files under a root.

    Raises DriverNotFoundError when no library directory holds `libnvidia-ml.so.<version>` or `libcuda.so.<version>`,
    OSError when the root cannot be read.
    """
    inside = Root(root)
    directories = _library_directories(inside)
    version, machine = _version_and_machine(inside, directories)
    return DriverFiles(
        version=version,
        machine=machine,
        libraries=tuple(_libraries(inside, directories, version, machine)),
        binaries=tuple(_binaries(inside)),
        files=tuple(_files(inside, version)),
        sockets=tuple(_sockets(inside)),
    )


def _library_directories(root: Root) -> tuple[str, ...]:
    """Existing library directories, each once where links make several names of one."""
    found = (root.find("/", directory, stat.S_IFDIR) for directory in LIBRARY_DIRECTORIES)
    return tuple(dict.fromkeys(directory for directory in found if directory))


def _version_and_machine(root: Root, directories: tuple[str, ...]) -> tuple[str, str]:
    for directory in directories:
        for name in root.names(directory):
            match = _DECIDING.fullmatch(name)
            elf = match and _elf(root, directory, name)
            if match and elf and elf[1] != "i386-linux-gnu":
                return match[1], elf[1]
    looked = ", ".join(directories) or "none of the usual library directories exists"
    raise DriverNotFoundError(f"{root.path}: no libnvidia-ml.so.<version> or libcuda.so.<version>; looked in: {looked}")


def _elf(root: Root, directory: str, name: str) -> tuple[str, str, str] | None:
    """(resolved path, machine, soname) of a library."""
    path = root.find(directory, name)
    elf = read_elf(root.outside(path)) if path else None
    return (path, elf.machine, elf.soname) if path and elf else None


def _libraries(root: Root, directories: tuple[str, ...], version: str, machine: str) -> Iterator[Library]:
    patterns = (f"*.so.{version}", *_OTHER_VERSIONS)
    seen: set[str] = set()
    for directory in directories:
        for name in root.names(directory):
            if name.startswith("lib") and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
                elf = _elf(root, directory, name)
                names = _load_names(elf[2] or name) if elf else ()
                if elf and elf[1] == machine and names[0] not in seen:
                    seen.add(names[0])
                    yield Library(path=elf[0], names=names)


def _load_names(soname: str) -> tuple[str, ...]:
    bare = _BARE_NAMES.get(soname)
    return (soname, bare) if bare else (soname,)


def _binaries(root: Root) -> Iterator[File]:
    for name in BINARIES:
        for directory in BINARY_DIRECTORIES:
            if path := root.find(directory, name):
                yield File(path=path, container_path=f"/usr/bin/{name}")
                break


def _files(root: Root, version: str) -> Iterator[File]:
    seen: set[str] = set()
    for directory, pattern in FILES:
        here = directory.format(version=version)
        for name in root.names(here):
            path = root.find(here, name)
            if path and path not in seen and fnmatch.fnmatchcase(name, pattern.format(version=version)):
                seen.add(path)
                yield File(path=path, container_path=f"{here}/{name}")


def _sockets(root: Root) -> Iterator[File]:
    for path in SOCKETS:
        directory, _, name = path.rpartition("/")
        kind = stat.S_IFDIR if name == "nvidia-mps" else stat.S_IFSOCK
        if found := root.find(directory, name, kind):
            yield File(path=found, container_path=path)
