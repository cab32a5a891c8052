"""Shared libraries for tests, written byte by byte: an ELF header, two program headers, a dynamic section, a name."""

import struct

MACHINES = {"x86_64-linux-gnu": (62, 2), "aarch64-linux-gnu": (183, 2), "i386-linux-gnu": (3, 1)}


def shared_library(soname: str, machine: str = "x86_64-linux-gnu") -> bytes:
    """The bytes of a library that no loader would run but whose headers are right."""
    number, elf_class = MACHINES[machine]
    return _library_64(soname, number) if elf_class == 2 else _library_32(soname, number)


def _library_64(soname: str, number: int) -> bytes:
    strings = b"\0" + soname.encode() + b"\0"
    base, table = 0x400000, 64 + 2 * 56 + 3 * 16
    size = table + len(strings)
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 3, number, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, size, size, 0x1000)
    dynamic = struct.pack("<IIQQQQQQ", 2, 6, 64 + 2 * 56, base + 64 + 2 * 56, 0, 48, 48, 8)
    entries = struct.pack("<qQqQqQ", 5, base + table, 14 if soname else 0, 1 if soname else 0, 0, 0)
    return header + load + dynamic + entries + strings


def _library_32(soname: str, number: int) -> bytes:
    strings = b"\0" + soname.encode() + b"\0"
    base, start = 0x8000, 52 + 2 * 32
    table = start + 3 * 8
    size = table + len(strings)
    header = b"\x7fELF\x01\x01\x01" + bytes(9)
    header += struct.pack("<HHIIIIIHHHHHH", 3, number, 1, 0, 52, 0, 0, 52, 32, 2, 0, 0, 0)
    load = struct.pack("<IIIIIIII", 1, 0, base, base, size, size, 5, 0x1000)
    dynamic = struct.pack("<IIIIIIII", 2, start, base + start, 0, 24, 24, 6, 4)
    entries = struct.pack("<iIiIiI", 5, base + table, 14, 1, 0, 0)
    return header + load + dynamic + entries + strings
