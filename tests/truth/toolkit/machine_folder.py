"""A GPU node as a folder: driver root, device nodes, sysfs, MIG capabilities, and a simulator that answers for it.

nvidia-ctk runs with the folder as its root; our own code gets the same places as paths. Device nodes need root.
"""

import contextlib
import os
import shutil
import socket
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deploy.cache import cache_folder
from lockgate.lab.address import socket_address
from lockgate.lab.control import Control
from lockgate.lab.driver import build_driver_root, device_nodes, write_sysfs
from lockgate.lab.driver.build import LIBRARY_FOLDER
from lockgate.lab.launch import running_simulator
from lockgate.lab.state import DRIVER_VERSION as VERSION
from lockgate.lab.state import Gpu
from tests.host.elf_files import shared_library

# Libraries of a driver besides those that the simulator answers by: file, soname, further links beside it.
LIBRARIES = (
    (f"libGLX_nvidia.so.{VERSION}", "libGLX_nvidia.so.0", ()),
    (f"libnvcuvid.so.{VERSION}", "libnvcuvid.so.1", ("libnvcuvid.so",)),
    (f"libnvidia-allocator.so.{VERSION}", "libnvidia-allocator.so.1", ()),
    (f"libnvidia-glcore.so.{VERSION}", f"libnvidia-glcore.so.{VERSION}", ()),
    (f"libnvidia-opticalflow.so.{VERSION}", "libnvidia-opticalflow.so.1", ()),
    (f"libnvidia-ptxjitcompiler.so.{VERSION}", "libnvidia-ptxjitcompiler.so.1", ()),
    (f"libnvidia-vulkan-producer.so.{VERSION}", f"libnvidia-vulkan-producer.so.{VERSION}", ()),
    (f"vdpau/libvdpau_nvidia.so.{VERSION}", "libvdpau_nvidia.so.1", ()),
    ("libnvidia-egl-gbm.so.1.1.2", "libnvidia-egl-gbm.so.1", ()),
    ("libnvidia-egl-wayland.so.1.1.20", "libnvidia-egl-wayland.so.1", ()),
    ("libnvidia-nvvm70.so.4", "libnvidia-nvvm70.so.4", ()),
    ("libnvsdm.so.1", "libnvsdm.so.1", ()),
    ("libibumad.so.3.3.52", "libibumad.so.3", ()),
    ("libnvidia-left-over.so.470.1", "libnvidia-left-over.so.1", ()),
)
FILES = (
    f"lib/firmware/nvidia/{VERSION}/gsp_ga10x.bin",
    f"lib/firmware/nvidia/{VERSION}/gsp_tu10x.bin",
    f"lib/firmware/updates/nvidia/{VERSION}/ucodes_gb100.bin",
    "lib/firmware/nvidia/470.1/gsp.bin",
    "usr/share/glvnd/egl_vendor.d/10_nvidia.json",
    "usr/share/egl/egl_external_platform.d/15_nvidia_gbm.json",
    "usr/share/egl/egl_external_platform.d/10_nvidia_wayland.json",
    "usr/share/nvidia/nvoptix.bin",
    f"usr/share/nvidia/nvidia-application-profiles-{VERSION}-rc",
    "usr/share/X11/xorg.conf.d/nvidia-drm-outputclass.conf",
    "usr/share/vulkan/icd.d/nvidia_icd.json",
    "usr/share/vulkan/implicit_layer.d/nvidia_layers.json",
    "etc/OpenCL/vendors/nvidia.icd",
)
PROGRAMS = ("usr/bin/nvidia-debugdump", "usr/bin/nvidia-cuda-mps-control", "usr/sbin/nvidia-persistenced")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where a node keeps its driver, which GPUs it has, and which of them (by minor number) are in MIG mode."""

    name: str
    driver_root: str = "/run/nvidia/driver"
    dev_root: str = "/"
    libraries: str = str(LIBRARY_FOLDER)
    graphics: bool = True
    mig: Mapping[int, tuple[dict[str, Any], ...]] = field(default_factory=dict)
    gpus: str = "2xA100-SXM4-40GB"


def instance(number: int, profile: int, start: int, size: int, *computes: tuple[int, int, int, int]) -> dict[str, Any]:
    """A GPU instance with compute instances (id, profile, start, size), as the simulator's state has it."""
    made = [{"id": i, "profile": p, "start": s, "size": n} for i, p, s, n in computes]
    return {"id": number, "profile": profile, "start": start, "size": size, "compute_instances": made}


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A node that stands: its folder, and the variables by which the simulated libraries find their simulator."""

    root: Path
    layout: Layout
    socket: Path

    @property
    def driver(self) -> Path:
        """The driver root in the folder."""
        return self.root / self.layout.driver_root.lstrip("/")

    def inside(self) -> dict[str, str]:
        """For a program that has the folder as its root."""
        dev = f"{self.layout.dev_root.rstrip('/')}/dev"
        return {"LOCKGATE_SIMULATOR_SOCKET": f"/{self.socket.relative_to(self.root)}", "LOCKGATE_SIMULATOR_DEV": dev}

    def outside(self) -> dict[str, str]:
        """For a program of this machine."""
        dev = self.root / self.layout.dev_root.lstrip("/") / "dev"
        return {"LOCKGATE_SIMULATOR_SOCKET": str(self.socket), "LOCKGATE_SIMULATOR_DEV": str(dev)}


@contextlib.contextmanager
def standing(root: Path, layout: Layout) -> Iterator[Machine]:
    """Lay out a node and let its simulator answer; the folder's path must be short, for sockets."""
    machine = Machine(root=root, layout=layout, socket=root / "run/sim/socket")
    machine.socket.parent.mkdir(parents=True)
    build_driver_root(machine.driver, cache_folder() / "driver")
    _fill_driver(machine.driver, layout)
    _listen(machine.driver / "run/nvidia-persistenced/socket")
    with running_simulator(machine.socket, ["--gpus", layout.gpus]):
        control = Control(machine.socket)
        for minor, instances in layout.mig.items():
            control.set(minor, mig_mode=True, mig_pending=True, gpu_instances=list(instances))
        _show_kernel(machine, control.gpus())
        yield machine


def _fill_driver(driver: Path, layout: Layout) -> None:
    libraries = driver / layout.libraries
    if layout.libraries != str(LIBRARY_FOLDER):
        libraries.parent.mkdir(parents=True, exist_ok=True)
        _move(driver / LIBRARY_FOLDER, libraries)
    for file, soname, links in LIBRARIES if layout.graphics else ():
        path = libraries / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(shared_library(soname))
        for link in {soname, *links} - {path.name}:
            (path.parent / link).symlink_to(path.name)
    xorg = libraries / "xorg/modules"
    for inside in (xorg / "drivers/nvidia_drv.so", xorg / f"extensions/libglxserver_nvidia.so.{VERSION}"):
        _put(inside)
    for name in FILES:
        _put(driver / name)
    for name in PROGRAMS:
        _put(driver / name)
        (driver / name).chmod(0o755)
    (driver / "tmp/nvidia-mps").mkdir(parents=True)
    _listen(driver / "run/nvidia-fabricmanager/socket")


def _move(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for entry in source.glob("*.so*"):
        shutil.move(entry, target / entry.name)


def _put(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")


def _listen(path: Path) -> None:
    """Leave a socket's file, as a daemon does that has ended or is busy."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as server, socket_address(path) as address:
        server.bind(address)


def _show_kernel(machine: Machine, gpus: tuple[Gpu, ...]) -> None:
    """What the kernel and its modules show: device nodes, PCI devices, which capability is which device."""
    dev = machine.root / machine.layout.dev_root.lstrip("/") / "dev"
    for node in device_nodes(len(gpus)):
        _device(dev.parent / node.path.lstrip("/"), node.major, node.minor)
    for name, major, minor in (("nvidia-nvswitch0", 508, 0), ("nvidia-caps-imex-channels/channel0", 509, 0)):
        _device(dev / name, major, minor)
    devices = machine.root / "sys/bus/pci/devices"
    write_sysfs(devices, gpus)
    for gpu in gpus if machine.layout.graphics else ():
        for name, number in ((f"card{gpu.minor + 1}", gpu.minor + 1), (f"renderD{128 + gpu.minor}", 128 + gpu.minor)):
            (devices / gpu.bus_id[4:].lower() / "drm" / name).mkdir(parents=True)
            _device(dev / "dri" / name, 226, number, mode=0o660, group=44)
            link = dev / f"dri/by-path/pci-{gpu.bus_id[4:].lower()}-{name.rstrip('0123456789D')}"
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(f"../{name}")
    _show_capabilities(machine, dev, gpus)


def _show_capabilities(machine: Machine, dev: Path, gpus: tuple[Gpu, ...]) -> None:
    names = ["config", "monitor"]
    for gpu in gpus:
        for gi in gpu.gpu_instances:
            names.append(f"gpu{gpu.minor}/gi{gi.id}/access")
            names += [f"gpu{gpu.minor}/gi{gi.id}/ci{ci.id}/access" for ci in gi.compute_instances]
    listed = machine.root / "proc/driver/nvidia-caps/mig-minors"
    listed.parent.mkdir(parents=True)
    listed.write_text("".join(f"{name} {minor}\n" for minor, name in enumerate(names, start=1)))
    for minor in range(1, len(names) + 1):
        _device(dev / f"nvidia-caps/nvidia-cap{minor}", 511, minor, mode=0o444)


def _device(path: Path, major: int, minor: int, mode: int = 0o666, group: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mknod(path, mode | stat.S_IFCHR, os.makedev(major, minor))
    path.chmod(mode)
    os.chown(path, 0, group)
