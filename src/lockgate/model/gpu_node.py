"""Which nodes are GPU nodes: `why`, the capacity figures and `fit` ask here, so that they speak of the same nodes."""

from functools import lru_cache

from lockgate.model import names
from lockgate.model.objects import Node


def is_gpu_node(node: Node) -> bool:
    """Whether a node has, or says that it has, NVIDIA devices: by a label of discovery or a cloud, or a resource.

    A label of discovery counts in any shape: the devices are there, also where no operator reads that it says so.
    """
    labels, status = node.metadata.labels, node.status
    if any(map(names.is_gpu_resource, status.capacity)) or any(map(names.is_gpu_resource, status.allocatable)):
        return True
    if _has_unread(tuple(labels)) or names.is_labelled(labels):
        return True
    return any("nvidia" in labels.get(label, "") for label in names.CLOUD_ACCELERATORS)


@lru_cache(maxsize=1024)  # each look asks it several times of every node, and nodes of a kind have the same labels
def _has_unread(labels: tuple[str, ...]) -> bool:
    return any(map(names.is_unread_pci_label, labels))
