"""Files changed at once or not at all: a reader, and a crash at any instant, meets the old content or the new.

A new file is written beside the old one, flushed to the disk, given the old one's mode, owner and security label, and
renamed over it. A symbolic link stays a link: the file that it points to is replaced.
"""

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

Checkpoint = Callable[[str], None]
"""Called with the name of each point at which a crash is possible; tests end the process in it."""

PREFIX: Final = ".lockgate-"  # of temporary files: hidden, and matched by no `*.toml`, `*.json` or `*.yaml`
_LINKS: Final = 40  # as many as Linux follows
_LABEL: Final = "security.selinux"


def onward(_: str) -> None:
    """The checkpoint of every day: nothing happens."""


def write_file(path: Path, content: bytes, *, mode: int = 0o644, checkpoint: Checkpoint = onward) -> bool:
    """Make a file hold `content`; False when it did already, and nothing was touched.

    `mode` counts only for a file that did not exist. Directories on the way are made. Raises OSError (disk full,
    read-only file system), with the old content still in place.
    """
    target = behind_links(path)
    old = _stat(target)
    if old is not None and target.read_bytes() == content:
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    checkpoint(f"before writing {target.name}")
    descriptor, name = tempfile.mkstemp(prefix=PREFIX, suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            checkpoint(f"while writing {target.name}")
            file.write(content)
            _take_over(file.fileno(), target, old, mode)
            checkpoint(f"before flushing {target.name}")
            file.flush()
            checkpoint(f"while flushing {target.name}")
            os.fsync(file.fileno())
        checkpoint(f"before renaming {target.name}")
        os.rename(name, target)  # noqa: PTH104 - a descriptor's name, not a Path
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)  # noqa: PTH108
        raise
    checkpoint(f"after renaming {target.name}")
    _sync_directory(target.parent)
    checkpoint(f"after writing {target.name}")
    return True


def behind_links(path: Path) -> Path:
    """The file that a link points to, the folders on the way left as they are named.

    `/proc/1/root` is a door into another mount namespace whose text is `/`: resolved, it would lead back here. Raises
    OSError where links go round.
    """
    for _ in range(_LINKS):
        if not path.is_symlink():
            return path
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def remove_file(path: Path, *, checkpoint: Checkpoint = onward) -> bool:
    """Remove a file (or a link, not what it points to); False when there was none."""
    checkpoint(f"before removing {path.name}")
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    checkpoint(f"while removing {path.name}")
    _sync_directory(path.parent)
    checkpoint(f"after removing {path.name}")
    return True


def remove_leftovers(directory: Path) -> None:
    """Remove temporary files that a killed writer left in a directory."""
    with contextlib.suppress(FileNotFoundError):
        for entry in directory.glob(f"{PREFIX}*.tmp"):
            entry.unlink(missing_ok=True)


def _stat(path: Path) -> os.stat_result | None:
    try:
        result = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(result.st_mode):
        raise IsADirectoryError(f"{path}: is not a regular file, so it is not replaced")
    return result


def _take_over(descriptor: int, target: Path, old: os.stat_result | None, mode: int) -> None:
    """Give the new file what the old one had: mode, owner, security label."""
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode) if old else mode)
    if old is None:
        return
    with contextlib.suppress(PermissionError):  # only root may give files away; then the writer owns it
        os.fchown(descriptor, old.st_uid, old.st_gid)
    with contextlib.suppress(OSError):  # no label, or no file system for labels
        os.setxattr(descriptor, _LABEL, os.getxattr(target, _LABEL))


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
