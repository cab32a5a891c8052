"""The CDI directories of a node, read into a registry as the runtime reads them."""

import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from lockgate.cdi.registry import EXTENSIONS, Directory, Registry, Unreadable, load
from lockgate.host.rooted import Root

SIZE_LIMIT: Final = 4 << 20


def read_directories(host: Path, directories: Iterable[str]) -> Registry:
    """Every specification of these directories, the lowest priority first; `host` is the host's root as seen here."""
    return load([_directory(Root(host), path) for path in directories])


def _directory(root: Root, path: str) -> Directory:
    if root.resolve(path) is None:
        return Directory(path=path, files={})
    if root.find("/", path, stat.S_IFDIR) is None:
        return Directory(path=path, files=None)
    try:
        names = [name for name in root.names(path) if name.endswith(EXTENSIONS)]
    except OSError:
        return Directory(path=path, files=None)
    files = [name for name in names if root.find(path, name, stat.S_IFDIR) is None]
    return Directory(path=path, files={name: _content(root, f"{path}/{name}") for name in files})


def _content(root: Root, path: str) -> bytes | Unreadable:
    resolved = root.resolve(path)
    if resolved is None:
        return Unreadable(reason="no such file or directory")
    try:
        with root.outside(resolved).open("rb") as file:
            return file.read(SIZE_LIMIT + 1)  # one more than is parsed, so that more is refused
    except OSError as error:
        return Unreadable(reason=(error.strerror or str(error)).lower())
