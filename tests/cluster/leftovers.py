"""Folders of clusters: held by a lock while their keeper lives, removed with their cgroups when it was killed."""

import contextlib
import fcntl
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.cluster import cgroups

PREFIX = "lockgate-cluster-"
_AT_ONCE = 16  # files; on a file system mounted with `discard` each removal waits for the disk


def make_held(folder: Path) -> None:
    """Make a cluster's folder, locked for as long as this process lives; no `sweep` ever sees it unlocked."""
    unseen = folder.with_name(f".{folder.name}")
    unseen.mkdir(mode=0o700)
    hold(unseen)
    unseen.rename(folder)


def hold(folder: Path) -> int:
    """Lock a cluster's folder and return the lock's descriptor; OSError when a living process holds it."""
    descriptor = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def sweep(base: Path) -> list[str]:
    """Remove folders and cgroups of clusters whose keeper was killed; returns their names."""
    dead = []
    for folder in sorted(base.glob(f"{PREFIX}??????")):
        try:
            lock = hold(folder)
        except OSError:  # its keeper lives
            continue
        cgroups.remove(folder.name)
        remove(folder)  # last, so that what it names is never left without it
        os.close(lock)
        dead.append(folder.name)
    return dead


def remove(folder: Path) -> None:
    """Remove a cluster's folder with all that is in it: many files at once, since one by one takes a minute."""
    files = [Path(place, name) for place, _, names in os.walk(folder) for name in names]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(_unlink, files))
    shutil.rmtree(folder, ignore_errors=True)


def _unlink(file: Path) -> None:
    with contextlib.suppress(OSError):  # gone already; what cannot be removed stays, as for rmtree
        file.unlink()
