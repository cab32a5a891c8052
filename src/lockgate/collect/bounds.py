"""How much foreign input may be: so that a broken or hostile file ends in one clear line, with bounded memory."""

import io
from typing import BinaryIO, Final

from lockgate.collect.errors import InputError
from lockgate.kit.quantity import binary_size

MIB: Final = 1024 * 1024
MAX_FILE: Final = 256 * MIB  # one file that is read whole
MAX_ARCHIVE: Final = 4096 * MIB  # an archive after decompression, the files that are skipped included; a long list
MAX_MEMBERS: Final = 100_000
MAX_TEXT: Final = 16 * MIB  # a text that is kept whole: node files, command output, pasted text, YAML
MAX_LOG: Final = 1 * MIB  # of a log only the tail is kept
MAX_HELD: Final = 128 * MIB  # logs and files of nodes together
MAX_OBJECT: Final = 4 * MIB  # one object; etcd takes no more than 1.5 MiB in one request
MAX_EVENTS: Final = 50_000  # that are kept of more: those that tell most
MAX_OBJECTS: Final = 500_000  # of other kinds
MAX_BLOCKS: Final = 16_000_000  # of memory for all that was read, as Python counts them: somewhat over 1 GB
_MOST_AT_ONCE: Final = MAX_FILE + MIB


def too_large(name: str, size: int, limit: int) -> InputError:
    """The complaint about a file that is over its bound."""
    return InputError(f"{name}: {binary_size(size)} is more than the {binary_size(limit)} that are read of such a file")


def read_within(stream: BinaryIO, name: str, limit: int = MAX_TEXT) -> bytes:
    """All of a stream that may be endless; raises InputError where it is more than the limit."""
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"{name}: is more than the {binary_size(limit)} that are read of it")
    return data


class Bounded(io.RawIOBase):
    """A stream that ends in InputError once more than `limit` bytes came out of it: what unpacking a bomb meets."""

    def __init__(self, inner: io.BufferedIOBase, name: str, limit: int = MAX_ARCHIVE) -> None:
        super().__init__()
        self._inner, self._name, self._limit, self._seen = inner, name, limit, 0

    def readable(self) -> bool:  # type: ignore[explicit-override]
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:  # type: ignore[explicit-override]
        """As a file's read; refuses to go over the limit, and to hand out more at once than the largest file."""
        if size < 0 or size > _MOST_AT_ONCE:
            raise InputError(f"{self._name}: a header in it asks for {size} bytes at once; the archive is broken")
        data = self._inner.read(size)
        self._seen += len(data)
        if self._seen > self._limit:
            raise InputError(f"{self._name}: unpacks to more than {binary_size(self._limit)}")
        return data
