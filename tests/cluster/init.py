"""Process 1 of a cluster's namespace: lays out the place that its plan describes, then supervises its programs there.

Run by the keeper under `unshare`, never by hand: `python -m tests.cluster.init PLAN.json`.
"""

import os
import shutil
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from tests.cluster import root
from tests.cluster.spec import ControlPlan, NodePlan
from tests.cluster.supervisor import Supervisor

_CABLE_WAIT = 120.0  # seconds until the keeper has plugged in the node's cable


def main() -> None:
    """Build the namespace and never return; a failure is the traceback in the namespace's `init.log`."""
    plan = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=ControlPlan | NodePlan)
    socket.sethostname(plan.hostname)
    match plan:
        case ControlPlan():
            subprocess.run(["mount", "--make-rprivate", "/"], check=True)
            subprocess.run(["mount", "-t", "proc", "proc", "/proc"], check=True)
        case NodePlan():
            root.enter(plan)
            _furnish(plan)
            _wait_for_cable()
    _set_network(plan)
    folder = Path(plan.folder)
    Supervisor(plan.programs, folder / "supervisor.sock", folder / "log").run()


def _furnish(plan: NodePlan) -> None:
    """Fill the node's root with what the plan names."""
    for path in ("/etc/containerd/conf.d", "/etc/cdi", "/usr/local/nvidia", "/opt", "/run/containerd"):
        Path(path).mkdir(parents=True, exist_ok=True)
    for name, source in plan.trees.items():
        shutil.copytree(source, name, symlinks=True)
    for name, text in plan.files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    for name, target in plan.links.items():
        Path(name).unlink(missing_ok=True)
        Path(name).symlink_to(target)
    for device in plan.devices:
        Path(device.path).parent.mkdir(parents=True, exist_ok=True)
        os.mknod(device.path, stat.S_IFCHR | 0o666, os.makedev(device.major, device.minor))
        Path(device.path).chmod(0o666)


def _wait_for_cable() -> None:
    until = time.monotonic() + _CABLE_WAIT
    while not Path("/sys/class/net/eth0").exists():
        if time.monotonic() > until:
            raise TimeoutError(f"no eth0 within {_CABLE_WAIT:.0f} s")
        time.sleep(0.01)


def _set_network(plan: ControlPlan | NodePlan) -> None:
    subprocess.run(["ip", "-batch", "-"], input="\n".join(plan.network), text=True, check=True)
    for name in ("net/ipv4/ip_forward", "net/bridge/bridge-nf-call-iptables"):
        setting = Path("/proc/sys") / name
        if setting.exists():
            setting.write_text("1")


if __name__ == "__main__":
    main()
