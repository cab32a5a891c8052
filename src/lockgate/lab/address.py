"""Addresses of unix sockets with long paths: the kernel takes 107 bytes, a path through an open folder is short."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_LONGEST: Final = 107


@contextlib.contextmanager
def socket_address(path: Path) -> Iterator[str]:
    """A path that the kernel accepts for this socket, good while the context lasts."""
    if len(os.fsencode(path)) <= _LONGEST:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
