"""What sysfs says of a PCI device: its NUMA node, its class, its device nodes for graphics."""

from pathlib import Path


def sysfs_address(bus_id: str) -> str:
    """NVML's `00000000:07:00.0` as sysfs writes it: `0000:07:00.0`."""
    lower = bus_id.lower()
    return lower[4:] if len(lower.partition(":")[0]) == 8 else lower


def numa_node(sys: Path, bus_id: str) -> int | None:
    """The NUMA node, None when the host does not name one (-1, or no such file)."""
    node = _number(sys, bus_id, "numa_node")
    return node if node is not None and node >= 0 else None


def pci_class(sys: Path, bus_id: str) -> int | None:
    """The class with subclass and interface, for example 0x030200; None when unreadable."""
    return _number(sys, bus_id, "class")


def drm_nodes(sys: Path, bus_id: str) -> tuple[str, ...]:
    """The device nodes of the kernel's graphics subsystem: `/dev/dri/card1`, `/dev/dri/renderD128`."""
    return tuple(sorted(f"/dev/dri/{entry.name}" for entry in (_folder(sys, bus_id) / "drm").glob("*")))


def _folder(sys: Path, bus_id: str) -> Path:
    return sys / "bus/pci/devices" / sysfs_address(bus_id)


def _number(sys: Path, bus_id: str, name: str) -> int | None:
    try:
        return int((_folder(sys, bus_id) / name).read_text().strip(), 0)
    except (OSError, ValueError):
        return None
