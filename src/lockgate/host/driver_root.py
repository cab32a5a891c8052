"""The files of an NVIDIA driver under a root: a driver container's (`/run/nvidia/driver`) or the host's own `/`.

Which files make up a driver: `host.driver_contents`. Links inside the root are followed and never lead out of it.
"""

import fnmatch
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from lockgate.cdi.driver_files import DriverFiles, File, Library, Part
from lockgate.host.driver_contents import (
    ALSO_NAMED,
    BINARIES,
    BINARY_DIRECTORIES,
    CONFIG_DIRECTORIES,
    CONFIGS,
    FIRMWARE,
    FIRMWARE_DIRECTORIES,
    GRAPHICS_BINARIES,
    GRAPHICS_LIBRARIES,
    LIBRARY_DIRECTORIES,
    LIBRARY_FOLDERS,
    MANAGEMENT_LIBRARIES,
    MPS_PIPES,
    OTHER_VERSIONS,
    SOCKET_DIRECTORIES,
    SOCKETS,
    VULKAN_CONFIGS,
    XORG_DIRECTORIES,
    XORG_MODULES,
)
from lockgate.host.elf import read_elf
from lockgate.host.ld_cache import read_directories
from lockgate.host.rooted import Root

_DECIDING: Final = re.compile(r"lib(?:nvidia-ml|cuda)\.so\.([0-9]+\.[0-9.]*[0-9])")
_LOADED: Final = ("libnvidia-ml.so.1", "libcuda.so.1")  # links that lead to the version in use


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
    libraries = _Libraries(inside, directories, machine)
    return DriverFiles(
        version=version,
        machine=machine,
        libraries=tuple(libraries.matching(f"lib*.so.{version}", *OTHER_VERSIONS)),
        binaries=tuple(_binaries(inside, BINARIES)),
        files=tuple(_firmware(inside, version)),
        sockets=tuple(_sockets(inside)),
        graphics=Part(
            libraries=tuple(libraries.matching(*GRAPHICS_LIBRARIES)),
            files=(
                *_binaries(inside, GRAPHICS_BINARIES),
                *_configs(inside, machine),
                *_xorg(inside, directories, version),
            ),
        ),
        management=Part(libraries=tuple(libraries.matching(*MANAGEMENT_LIBRARIES))),
    )


def _library_directories(root: Root) -> tuple[str, ...]:
    """Existing library directories, each once where links make several names of one: the usual, then the loader's."""
    named = (*LIBRARY_DIRECTORIES, *read_directories(root, _LOADED))
    found = (root.find("/", directory, stat.S_IFDIR) for directory in named)
    return tuple(dict.fromkeys(directory for directory in found if directory))


def _version_and_machine(root: Root, directories: tuple[str, ...]) -> tuple[str, str]:
    for directory in directories:
        in_use = (root.find(directory, link) for link in _LOADED)
        names = (path.rpartition("/")[2] for path in in_use if path)
        for name in (*names, *root.names(directory)):
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


class _Libraries:
    """The libraries for one machine in these directories, each once: the first that bears its soname."""

    def __init__(self, root: Root, directories: Iterable[str], machine: str) -> None:
        self._root = root
        self._entries = [
            (f"{directory}/{folder}", folder, name)
            for directory in directories
            for folder in LIBRARY_FOLDERS
            for name in root.names(f"{directory}/{folder}")
        ]
        self._machine = machine
        self._seen: set[str] = set()

    def matching(self, *patterns: str) -> Iterator[Library]:
        wanted = re.compile("|".join(map(fnmatch.translate, patterns)))
        for directory, folder, name in self._entries:
            elf = _elf(self._root, directory, name) if wanted.match(name) else None
            soname = f"{folder}{elf[2] or name}" if elf else ""
            if elf and elf[1] == self._machine and soname not in self._seen:
                self._seen.add(soname)
                yield Library(path=elf[0], names=self._names(directory, folder, name, soname))

    def _names(self, directory: str, folder: str, name: str, soname: str) -> tuple[str, ...]:
        """The soname; the name without a version where the driver has a link of that name; those of the table."""
        stem = name.partition(".so")[0] + ".so"
        bare = [f"{folder}{stem}"] if self._root.find(directory, stem) else []
        also = [ALSO_NAMED[stem]] if stem in ALSO_NAMED else []
        return tuple(dict.fromkeys((soname, *bare, *also)))


def _binaries(root: Root, names: Iterable[str]) -> Iterator[File]:
    for name in names:
        if path := _first(root, BINARY_DIRECTORIES, name):
            yield File(path=path, container_path=f"/usr/bin/{name}")


def _first(root: Root, directories: Iterable[str], name: str, kind: int = stat.S_IFREG) -> str | None:
    return next((path for directory in directories if (path := root.find(directory, name, kind))), None)


def _firmware(root: Root, version: str) -> Iterator[File]:
    seen: set[str] = set()
    for directory in FIRMWARE_DIRECTORIES:
        here = f"{directory.format(kernel=os.uname().release)}/nvidia/{version}"
        for name in root.names(here):
            path = root.find(here, name)
            if path and path not in seen and any(fnmatch.fnmatchcase(name, pattern) for pattern in FIRMWARE):
                seen.add(path)
                yield File(path=path, container_path=f"{here}/{name}")


def _configs(root: Root, machine: str) -> Iterator[File]:
    seen: set[str] = set()
    vulkan = (name.format(cpu=machine.partition("-")[0]) for name in VULKAN_CONFIGS)
    wanted = (
        *((name, into, CONFIG_DIRECTORIES) for name, into in CONFIGS.items()),
        *((name, "/etc", (*CONFIG_DIRECTORIES, "/")) for name in vulkan),
    )
    for name, into, directories in wanted:
        path = _first(root, directories, name)
        if path and path not in seen:
            seen.add(path)
            yield File(path=path, container_path=f"{into}/{name}")


def _xorg(root: Root, libraries: Iterable[str], version: str) -> Iterator[File]:
    for module in XORG_MODULES:
        name = module.format(version=version)
        directories = (place.format(library=library) for library in libraries for place in XORG_DIRECTORIES)
        for directory in dict.fromkeys(directories):
            if path := root.find(directory, name):
                yield File(path=path, container_path=f"{directory}/{name}")
                if (bare := name.removesuffix(f".{version}")) != name:
                    yield File(path=path, container_path=f"{directory}/{bare}")
                break


def _sockets(root: Root) -> Iterator[File]:
    for name in SOCKETS:
        for directory in SOCKET_DIRECTORIES:
            if path := root.find(directory, name, stat.S_IFSOCK):
                yield File(path=path, container_path=f"{directory}/{name}")
                break
    if path := root.find("/", MPS_PIPES, stat.S_IFDIR):
        yield File(path=path, container_path=MPS_PIPES)
