"""The little of an ELF file that decides who can load it, and by what name: class, machine, soname.

Only headers and the dynamic section are read; anything that does not fit together is "no library", never an exception.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

_DYNAMIC: Final = 2  # PT_DYNAMIC
_LOAD: Final = 1  # PT_LOAD
_SONAME, _STRTAB = 14, 5  # DT_SONAME, DT_STRTAB
_LIMIT: Final = 1 << 20
_NAME_LIMIT: Final = 256

# e_machine, 64 bit -> GNU triplet
_TRIPLETS: Final = {(62, True): "x86_64-linux-gnu", (183, True): "aarch64-linux-gnu", (3, False): "i386-linux-gnu"}


@dataclass(frozen=True, slots=True)
class Elf:
    """`machine` is a GNU triplet; `soname` is "" where the file has none."""

    machine: str
    soname: str


def read_elf(path: Path) -> Elf | None:
    """What a file says of itself, or None when it is not an ELF file that this machine family knows."""
    try:
        with path.open("rb") as file:
            return _read(file)
    except (OSError, struct.error, ValueError):
        return None


def _read(file: BinaryIO) -> Elf | None:
    ident = file.read(16)
    if ident[:4] != b"\x7fELF" or ident[5:6] != b"\x01":  # little endian only
        return None
    is_64 = ident[4:5] == b"\x02"
    header = "<HHIQQQIHHHHHH" if is_64 else "<HHIIIIIHHHHHH"
    fields = struct.unpack(header, file.read(struct.calcsize(header)))
    machine = _TRIPLETS.get((fields[1], is_64))
    if machine is None:
        return None
    segments = list(_segments(file, is_64, offset=fields[4], size=fields[8], count=fields[9]))
    return Elf(machine, _soname(file, is_64, segments))


def _segments(file: BinaryIO, is_64: bool, *, offset: int, size: int, count: int) -> list[tuple[int, int, int, int]]:
    """(type, file offset, virtual address, file size) of each program header."""
    layout = "<IIQQQQQQ" if is_64 else "<IIIIIIII"
    found = []
    for index in range(min(count, 512)):
        file.seek(offset + index * size)
        f = struct.unpack(layout, file.read(struct.calcsize(layout)))
        found.append((f[0], f[2], f[3], f[5]) if is_64 else (f[0], f[1], f[2], f[4]))
    return found


def _soname(file: BinaryIO, is_64: bool, segments: list[tuple[int, int, int, int]]) -> str:
    for kind, offset, _, size in segments:
        if kind == _DYNAMIC:
            entries = _dynamic(file, is_64, offset, size)
            if _SONAME in entries and _STRTAB in entries:
                return _text_at(file, segments, entries[_STRTAB], entries[_SONAME])
    return ""


def _dynamic(file: BinaryIO, is_64: bool, offset: int, size: int) -> dict[int, int]:
    file.seek(offset)
    layout = "<qQ" if is_64 else "<iI"
    data = file.read(min(size, _LIMIT))
    return dict(struct.iter_unpack(layout, data[: len(data) - len(data) % struct.calcsize(layout)]))


def _text_at(file: BinaryIO, segments: list[tuple[int, int, int, int]], table: int, index: int) -> str:
    for kind, offset, address, size in segments:
        if kind == _LOAD and address <= table < address + size:
            file.seek(offset + table - address + index)
            return file.read(_NAME_LIMIT).split(b"\0", 1)[0].decode("ascii")
    return ""
