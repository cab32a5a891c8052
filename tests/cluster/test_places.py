"""Reading the machine: cgroup hierarchies, children of a process, clusters that a killed keeper left."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cluster import cgroups, leftovers, processes

_HYBRID = """\
24 1 0:23 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
25 24 0:24 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
26 24 0:25 / /sys/fs/cgroup/memory rw,relatime shared:5 - cgroup cgroup rw,memory
27 24 0:26 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
28 24 0:25 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
"""


def test_hierarchies_of_both_cgroup_versions_are_found_once(tmp_path: Path) -> None:
    (tmp_path / "mountinfo").write_text(_HYBRID)
    found = [path.name for path in cgroups.hierarchies(tmp_path / "mountinfo")]
    assert found == ["cpu", "memory", "unified"]


def test_children_are_found_whatever_a_process_calls_itself(tmp_path: Path) -> None:
    for pid, stat in {"7": "7 (sh) S 1 7", "8": "8 (a) b (c) R 7 8", "9": "9 (x) S 8 9"}.items():
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "stat").write_text(stat)
    (tmp_path / "10").mkdir()  # it ended between the listing and the reading
    (tmp_path / "meminfo").touch()
    assert processes.children(7, tmp_path) == [8]


def test_a_process_without_children_in_time_is_an_error() -> None:
    with subprocess.Popen(["/bin/false"]) as ended, pytest.raises(RuntimeError, match="ended with 1"):
        ended.wait()
        processes.only_child(ended, timeout=1)


def test_a_sweep_removes_what_a_dead_keeper_left_and_nothing_else(tmp_path: Path) -> None:
    leftovers.make_held(living := tmp_path / "lockgate-cluster-aaaaaa")
    (dead := tmp_path / "lockgate-cluster-bbbbbb").mkdir()
    (dead / "lock").touch()
    (dead / "nodes/gpu-a/etc").mkdir(parents=True)
    (dead / "nodes/gpu-a/etc/hosts").touch()
    (dead / "nodes/gpu-a/etc/there").symlink_to(living)
    (other := tmp_path / "lockgate-truth-cccccc").mkdir()
    # flock is held by the open file, and a living keeper is another process: fork one that looks.
    child = os.fork()
    if child == 0:
        os._exit(0 if "lockgate-cluster-bbbbbb" in leftovers.sweep(tmp_path) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert living.exists()
    assert other.exists()
    assert not dead.exists()
