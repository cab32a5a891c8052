"""What a node with GPUs needs from the lab: the driver's files, the PCI devices, the device nodes, the simulator."""

from pathlib import Path

from tests.cluster.plan import SimulatedGpus
from tests.cluster.spec import Node


def simulated_gpus(node: Node, folder: Path, cache: Path) -> SimulatedGpus:
    """Build what the node's `gpus` say, below the node's folder on the machine."""
    raise NotImplementedError("lockgate.lab is not there yet")
