"""What a node with NVIDIA's driver shows besides the driver root: device nodes, and GPUs as PCI devices in sysfs."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from lockgate.lab.state import Gpu


class DeviceNode(NamedTuple):
    """A character device to make: its path and its numbers."""

    path: str
    major: int
    minor: int


def device_nodes(gpus: int) -> list[DeviceNode]:
    """The device nodes of a node with that many GPUs, as NVIDIA's driver makes them."""
    return [
        *(DeviceNode(f"/dev/nvidia{minor}", 195, minor) for minor in range(gpus)),
        DeviceNode("/dev/nvidiactl", 195, 255),
        DeviceNode("/dev/nvidia-modeset", 195, 254),
        DeviceNode("/dev/nvidia-uvm", 510, 0),
        DeviceNode("/dev/nvidia-uvm-tools", 510, 1),
    ]


def write_sysfs(dest: Path, gpus: Iterable[Gpu]) -> None:
    """Write a /sys/bus/pci/devices with these GPUs at `dest`: a folder a device, named as the kernel names it."""
    dest.mkdir(parents=True, exist_ok=True)
    for gpu in gpus:
        folder = dest / gpu.bus_id[4:].lower()  # the kernel's domain has four digits
        folder.mkdir(exist_ok=True)
        for name, text in _attributes(gpu).items():
            (folder / name).write_text(text + "\n")


def _attributes(gpu: Gpu) -> dict[str, str]:
    board = gpu.product
    vendor_of_board, device_of_board = board.subsystem_id & 0xFFFF, board.subsystem_id >> 16
    return {
        "vendor": "0x10de",
        "device": f"0x{board.device_id:04x}",
        "subsystem_vendor": f"0x{vendor_of_board:04x}",
        "subsystem_device": f"0x{device_of_board:04x}",
        "class": "0x030200",  # 3D controller
        "revision": "0xa1",
        "numa_node": str(gpu.numa_node),
        "local_cpulist": f"0-{(os.cpu_count() or 1) - 1}",
        "enable": "1",
        "current_link_width": str(gpu.pcie_width),
        "max_link_width": str(board.pcie_width),
        "uevent": "\n".join(
            (
                "DRIVER=nvidia",
                "PCI_CLASS=30200",
                f"PCI_ID=10DE:{board.device_id:04X}",
                f"PCI_SUBSYS_ID={vendor_of_board:04X}:{device_of_board:04X}",
                f"PCI_SLOT_NAME={gpu.bus_id[4:].lower()}",
            )
        ),
    }
