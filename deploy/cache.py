"""Where built things are kept between runs: images, programs of the test cluster, compiled drivers.

An entry is a file or folder called `<name>-<key of all that it is made from>`. What nobody has used for a month goes
when something new is made beside it. One lock a folder: two runs at once make an entry once, and neither takes away
what the other has just been given.
"""

import datetime as dt
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

UNUSED: Final = dt.timedelta(days=30)
LOCK: Final = ".lock"  # lab/driver/build.py takes the same one in its folder


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/lockgate`, usually `~/.cache/lockgate`; it need not exist yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lockgate"


def kept(entry: Path, make: Callable[[Path], None]) -> Path:
    """The entry, made now unless it was made before; never half made under its name.

    `make` gets the path at which to make a file or a folder; what a killed run left there is gone.
    """
    entry.parent.mkdir(parents=True, exist_ok=True)
    with _alone(entry.parent):
        if is_new := not entry.exists():
            partial = entry.with_name(f"{entry.name}.partial")
            _remove(partial)
            make(partial)
            partial.rename(entry)
        os.utime(entry)  # also a new one: an unpacked folder is as old as its package
        if is_new:
            _prune(entry.parent, time.time())
    return entry


def prune(folder: Path) -> None:
    """Remove the entries of a folder that nobody has used for a month."""
    if folder.is_dir():
        with _alone(folder):
            _prune(folder, time.time())


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _prune(folder: Path, now: float) -> None:
    for entry in folder.iterdir():
        is_entry = "-" in entry.name and not entry.name.startswith(".")
        if is_entry and now - entry.stat().st_mtime > UNUSED.total_seconds():
            _remove(entry)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
