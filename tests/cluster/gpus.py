"""What a node with GPUs gets from the lab: the driver's files, the PCI devices, the device nodes, the simulator."""

from pathlib import Path

from lockgate.lab.boards import parse_boards
from lockgate.lab.driver import build_driver_root, device_nodes, write_sysfs
from lockgate.lab.state import CUDA_VERSION, DRIVER_VERSION, new_driver
from tests.cluster.node_plan import SIMULATOR_SOCKET, SimulatedGpus
from tests.cluster.repository import python_module
from tests.cluster.spec import Device, Node, flags


def simulated_gpus(node: Node, folder: Path, cache: Path) -> SimulatedGpus:
    """Write what the node's `gpus` say below the node's folder on the machine, and plan its simulator.

    UUIDs follow from the node's name; the simulator's state outlives its restarts.
    """
    version = node.driver_version or DRIVER_VERSION
    boards = parse_boards(node.gpus)
    build_driver_root(folder / "driver", cache / "driver", version)
    write_sysfs(folder / "pci", new_driver(boards, node.name, version, CUDA_VERSION).gpus)
    options = {
        "socket": SIMULATOR_SOCKET,
        "gpus": node.gpus,
        "driver-version": version,
        "seed": node.name,
        "state": str(folder / "simulator.json"),
    }
    return SimulatedGpus(
        driver_root=folder / "driver",
        pci_devices=folder / "pci",
        devices=tuple(Device(*device) for device in device_nodes(len(boards))),
        simulator=(*python_module("lockgate.lab.simulator"), *flags(options)),
    )
