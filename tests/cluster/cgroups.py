"""The cgroups of a cluster: one named after it in every hierarchy, a child for each node, all removed at the end."""

import contextlib
import os
import time
from pathlib import Path

_SETTLE = 60.0  # seconds that dead tasks may take to leave a cgroup


def hierarchies(mountinfo: Path = Path("/proc/self/mountinfo")) -> list[Path]:
    """The mount points of every cgroup hierarchy, version 1 and 2, each once."""
    found: list[Path] = []
    for line in mountinfo.read_text().splitlines():
        before, _, after = line.partition(" - ")
        if after.split()[0] in ("cgroup", "cgroup2"):
            found.append(Path(before.split()[4]))
    return list(dict.fromkeys(found))


def make(name: str, children: list[str]) -> None:
    """Make the cgroup `name` and its children in every hierarchy, fit for a kubelet's `cgroupRoot`."""
    for hierarchy in hierarchies():
        for path in (hierarchy / name, *(hierarchy / name / child for child in children)):
            path.mkdir(exist_ok=True)
            _pass_down(path)


def _pass_down(path: Path) -> None:
    # cgroup v1: a cpuset without CPUs and memory nodes takes no task; a new one has none.
    for setting in ("cpuset.cpus", "cpuset.mems"):
        if (path / setting).exists() and (path.parent / "tasks").exists():
            (path / setting).write_text((path.parent / setting).read_text())
    # cgroup v2: a child gets only the controllers that its parent hands down.
    if (available := path / "cgroup.controllers").exists():
        wanted = " ".join(f"+{name}" for name in available.read_text().split())
        with contextlib.suppress(OSError):
            (path / "cgroup.subtree_control").write_text(wanted)


def remove(name: str, settle: float = _SETTLE) -> list[Path]:
    """Remove the cgroup and all below it in every hierarchy; returns what was still busy after `settle` seconds."""
    until = time.monotonic() + settle
    while True:
        left = [path for hierarchy in hierarchies() for path in _deepest_first(hierarchy / name) if not _removed(path)]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.05)


def names(prefix: str) -> set[str]:
    """The cgroups at the top of any hierarchy whose name starts so."""
    return {path.name for hierarchy in hierarchies() for path in hierarchy.glob(f"{prefix}*") if path.is_dir()}


def _deepest_first(top: Path) -> list[Path]:
    return [Path(folder) for folder, _, _ in os.walk(top, topdown=False)]


def _removed(path: Path) -> bool:
    try:
        path.rmdir()
    except OSError:
        return not path.exists()
    return True
