"""Folders of clusters: held by a lock while their keeper lives, removed with their cgroups when it was killed."""

import fcntl
import os
import shutil
from pathlib import Path

from tests.cluster import cgroups

PREFIX = "lockgate-cluster-"


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
        shutil.rmtree(folder, ignore_errors=True)  # last, so that what it names is never left without it
        os.close(lock)
        dead.append(folder.name)
    return dead
