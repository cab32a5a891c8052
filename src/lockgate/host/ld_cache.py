"""The directories in which a root's own loader finds a library: glibc's `/etc/ld.so.cache`.

A host may keep its driver in a directory that only its `/etc/ld.so.conf` names. Format: `cache_file_new` of glibc's
sysdeps/generic/dl-cache.h; an older cache has the format before it, which is skipped.
"""

import struct
from collections.abc import Iterator, Sequence
from posixpath import dirname
from typing import Final

from lockgate.host.rooted import Root

CACHE: Final = "/etc/ld.so.cache"
SIZE_LIMIT: Final = 16 << 20
_MAGIC: Final = b"glibc-ld.so.cache1.1"
_HEADER: Final = struct.Struct("<20sII20x")  # magic and version; entries; bytes of text
_ENTRY: Final = struct.Struct("<iIIIQ")  # flags; where the name is; where the path is; of what system; capabilities


def read_directories(root: Root, names: Sequence[str]) -> tuple[str, ...]:
    """The directories of the libraries with these names, in the cache's order; none where no cache can be read."""
    resolved = root.resolve(CACHE)
    if resolved is None:
        return ()
    try:
        with root.outside(resolved).open("rb") as file:
            data = file.read(SIZE_LIMIT)
        wanted = {name.encode() for name in names}
        paths = [path for name, path in _entries(data) if name in wanted]
    except (OSError, struct.error):
        return ()
    return tuple(dict.fromkeys(dirname(path.decode("utf-8", "surrogateescape")) for path in paths))


def _entries(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(name, path) of each library. Raises struct.error where the file ends too early."""
    start = data.find(_MAGIC)
    if start < 0:
        return
    _, count, _ = _HEADER.unpack_from(data, start)
    for index in range(count):
        _, name, path, _, _ = _ENTRY.unpack_from(data, start + _HEADER.size + index * _ENTRY.size)
        yield _text(data, start + name), _text(data, start + path)


def _text(data: bytes, at: int) -> bytes:
    return data[at : data.find(b"\0", at)]
