"""A node's root file system: the machine's, with a layer in memory over it, so that every path is the node's own.

Writes of the node (`/etc`, `/usr/local`, ...) go to the layer; `/dev`, `/run`, `/proc`, `/sys` and the large state
folders are mounts of their own. Nothing is written to the machine, and all of it ends with the namespace.
"""

import os
import shutil
import stat
import subprocess
from pathlib import Path

from tests.cluster.spec import Device, NodePlan

_DEVICES = (
    Device("null", 1, 3),
    Device("zero", 1, 5),
    Device("full", 1, 7),
    Device("random", 1, 8),
    Device("urandom", 1, 9),
    Device("kmsg", 1, 11),  # the kubelet's OOM watcher reads it
    Device("tty", 5, 0),
    Device("fuse", 10, 229),
)
_LINKS = {
    "ptmx": "pts/ptmx",
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}
# A kubelet sets these on the whole machine (cm/container_manager_linux.go); a node gets files of its own over them.
_KERNEL_SETTINGS = {
    "vm/overcommit_memory": "1\n",
    "vm/panic_on_oom": "0\n",
    "kernel/panic": "10\n",
    "kernel/panic_on_oops": "1\n",
    "kernel/keys/root_maxkeys": "1000000\n",
    "kernel/keys/root_maxbytes": "25000000\n",
}
# What an installed container runtime or Kubernetes of the machine may have left there is not the node's.
_EMPTIED = ("etc/containerd", "etc/cni", "etc/cdi", "etc/kubernetes", "usr/local/nvidia", "opt/cni", "opt/nvidia")


def enter(plan: NodePlan) -> None:
    """Build the root in this mount namespace and make it this process's; needs root."""
    stage = Path(plan.folder) / "root"
    stage.mkdir()
    _run("mount", "--make-rprivate", "/")
    _run("mount", "-t", "tmpfs", "-o", "mode=755", "node", stage)
    new = stage / "merged"
    for name in ("upper", "work", "merged"):
        (stage / name).mkdir()
    # The layer lies on a tmpfs since an upper folder inside its own lower one is refused (ELOOP).
    _run("mount", "-t", "overlay", "-o", f"lowerdir=/,upperdir={stage}/upper,workdir={stage}/work", "node", new)
    _empty(new)
    _kernel_file_systems(new, Path(plan.folder) / "kernel")
    _devices(new / "dev")
    for path in (*(Path(name) for name in plan.visible if _is_elsewhere(Path(name))), Path(plan.folder)):
        _bind(path, new)
    for name, source in plan.binds.items():
        Path(source).mkdir(parents=True, exist_ok=True)
        _bind(Path(source), new, at=name)
    _pivot(new)


def _empty(new: Path) -> None:
    for name in _EMPTIED:
        shutil.rmtree(new / name, ignore_errors=True)
    # Absolute on Debian: followed from outside through /proc/PID/root, it would lead to the machine's /run.
    (new / "var/run").unlink()
    (new / "var/run").symlink_to("../run")


def _kernel_file_systems(new: Path, settings: Path) -> None:
    _run("mount", "-t", "proc", "proc", new / "proc")
    _run("mount", "-t", "sysfs", "sysfs", new / "sys")
    _run("mount", "--rbind", "/sys/fs/cgroup", new / "sys/fs/cgroup")
    _run("mount", "-t", "tmpfs", "-o", "mode=755", "run", new / "run")
    (new / "run/lock").mkdir()
    for name, text in _KERNEL_SETTINGS.items():
        own = settings / name.replace("/", ".")
        own.parent.mkdir(exist_ok=True)
        own.write_text(text)
        if (new / "proc/sys" / name).exists():
            _run("mount", "--bind", own, new / "proc/sys" / name)


def _devices(dev: Path) -> None:
    _run("mount", "-t", "tmpfs", "-o", "mode=755", "dev", dev)
    for device in _DEVICES:
        os.mknod(dev / device.path, stat.S_IFCHR | 0o666, os.makedev(device.major, device.minor))
        (dev / device.path).chmod(0o666)
    for name, target in _LINKS.items():
        (dev / name).symlink_to(target)
    for name in ("pts", "shm", "mqueue"):
        (dev / name).mkdir()
    _run("mount", "-t", "devpts", "-o", "newinstance,ptmxmode=0666,mode=620", "devpts", dev / "pts")
    _run("mount", "-t", "tmpfs", "-o", "mode=1777", "shm", dev / "shm")
    _run("mount", "-t", "mqueue", "mqueue", dev / "mqueue")


def _is_elsewhere(path: Path) -> bool:
    """Whether the path lies on another file system than `/`, so that the layer over `/` does not show it."""
    return path.exists() and path.stat().st_dev != Path("/").stat().st_dev


def _bind(source: Path, new: Path, at: str = "") -> None:
    target = new / (at or str(source)).lstrip("/")
    target.mkdir(parents=True, exist_ok=True)
    _run("mount", "--bind", source, target)


def _pivot(new: Path) -> None:
    os.chdir(new)
    old = new / "mnt/machine"
    old.mkdir(parents=True)
    _run("pivot_root", ".", "mnt/machine")
    os.chroot(".")
    os.chdir("/")
    _run("umount", "--lazy", "/mnt/machine")
    Path("/mnt/machine").rmdir()
    # Pods with mountPropagation Bidirectional, and containerd itself, need shared mounts.
    _run("mount", "--make-rshared", "/")


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True)
