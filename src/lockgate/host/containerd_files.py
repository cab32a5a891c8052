"""The configuration files of the node's containerd, read for the model in `lockgate.containerd`.

Which files count is for the model to say: here every file is read that it could ask for, the top-level file, what its
imports name or could match, their imports, and the folder of our own drop-in, loaded or not.
"""

import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from posixpath import dirname
from typing import Final

from lockgate.containerd import Directory, File, Files, Release, Unreadable
from lockgate.containerd.document import parse_document
from lockgate.containerd.imports import clean
from lockgate.containerd.toml_text import TomlError
from lockgate.containerd.values import Leaf
from lockgate.host.rooted import Root

SIZE_LIMIT: Final = 1 << 20
COUNT_LIMIT: Final = 1000
NOT_READ: Final = "not a regular file of at most 1 MiB"  # which is our limit, not containerd's


def read_files(host: Path, top_level: str, release: Release, folders: Iterable[str] = ()) -> Files:
    """Every file that may be part of a configuration, by its path on the host.

    `host` is the host's root as seen from here; `folders` are read besides. A missing top-level file is left out.
    """
    root = Root(host)
    entries: dict[str, File] = {}
    todo = [top_level, *(path for folder in folders for path in _paths(root, folder))]
    while todo and len(entries) < COUNT_LIMIT:
        path = todo.pop()
        if path in entries:
            continue
        content = _read(root, path)
        if content is not None:
            entries[path] = content
        if isinstance(content, bytes):
            todo.extend(_imports(root, path, content, release))
    return Files(entries)


def _read(root: Root, path: str) -> File | None:
    resolved = root.resolve(path)
    if resolved is None:
        return None
    outside = root.outside(resolved)
    try:
        found = outside.stat()
        if stat.S_ISDIR(found.st_mode):
            return Directory()
        if not stat.S_ISREG(found.st_mode) or found.st_size > SIZE_LIMIT:
            return Unreadable(NOT_READ)
        return outside.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        return Unreadable((error.strerror or str(error)).lower())


def _imports(root: Root, path: str, content: bytes, release: Release) -> Iterator[str]:
    """What a file's imports could name: literal paths, and every entry of a folder that a pattern ends in."""
    for entry in _entries(path, content, release):
        for absolute in _absolute(entry, path):
            folder = dirname(absolute)
            if "*" not in absolute:
                yield absolute
            elif "*" not in folder:
                yield from _paths(root, folder)
            else:
                yield from _below(root, folder.partition("*")[0].rpartition("/")[0], depth=absolute.count("/"))


def _entries(path: str, content: bytes, release: Release) -> list[str]:
    try:
        leaf = parse_document(content, path, release.family.toml).get("imports")
    except TomlError:
        return []
    values = leaf.value if isinstance(leaf, Leaf) and isinstance(leaf.value, list) else []
    return [value for value in values if isinstance(value, str)]


def _absolute(entry: str, parent: str) -> tuple[str, ...]:
    """The path of an entry; a relative pattern may start at the file or, on old releases, at `/`."""
    if entry.startswith("/"):
        return (clean(entry),)
    return (clean(f"{dirname(parent)}/{entry}"), clean(f"/{entry}"))


def _paths(root: Root, folder: str) -> list[str]:
    return [f"{folder.rstrip('/')}/{name}" for name in root.names(folder)]


def _below(root: Root, folder: str, depth: int) -> Iterator[str]:
    for path in _paths(root, folder):
        if path.count("/") == depth:
            yield path
        elif path.count("/") < depth and root.find("/", path, stat.S_IFDIR):
            yield from _below(root, path, depth)
