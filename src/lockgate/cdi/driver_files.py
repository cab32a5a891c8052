"""What a driver root holds, as values: found by `host.driver_root`, turned into mounts by `cdi.build`.

Paths are inside the root, absolute and without symbolic links (`/usr/lib64/libcuda.so.580.95.05`), so that the same
value serves wherever the root is mounted.
"""

import msgspec


class Library(msgspec.Struct, frozen=True, gc=False):
    """A shared library; `names` are the file names by which programs load it (its soname first).

    A name may lie in a folder of the library directory (`vdpau/libvdpau_nvidia.so.1`).
    """

    path: str
    names: tuple[str, ...]


class File(msgspec.Struct, frozen=True, gc=False):
    """A file that belongs at one place in a container: a binary, a firmware image, a configuration, a socket."""

    path: str
    container_path: str


class Part(msgspec.Struct, frozen=True, gc=False):
    """What only some containers of the driver need."""

    libraries: tuple[Library, ...] = ()
    files: tuple[File, ...] = ()


class DriverFiles(msgspec.Struct, frozen=True, gc=False):
    """The files of one driver. `machine` is the GNU triplet (`x86_64-linux-gnu`).

    `graphics` goes to containers with GPUs, `management` to those that look after them.
    """

    version: str
    machine: str
    libraries: tuple[Library, ...] = ()
    binaries: tuple[File, ...] = ()
    files: tuple[File, ...] = ()
    sockets: tuple[File, ...] = ()
    graphics: Part = Part()
    management: Part = Part()
