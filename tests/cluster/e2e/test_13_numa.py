"""The kubelet knows on which NUMA node each GPU is, since the plugin asks the node's own sysfs."""

import json

import pytest

from tests.cluster import Cluster
from tests.cluster.e2e.conftest import wait_phase
from tests.cluster.manifests import pod

pytestmark = pytest.mark.e2e

CHECKPOINT = "var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
NOWHERE = "-1"  # how the kubelet notes down a device without a NUMA node


@pytest.mark.parametrize("node", ["gpu-a", "gpu-b"])
def test_the_kubelet_hands_out_gpus_by_numa_node(cluster: Cluster, node: str) -> None:
    cluster.apply(pod("near", gpus=2, on=node))
    wait_phase(cluster, "near", "Running")
    entries = json.loads((cluster.nodes[node].files / CHECKPOINT).read_text())["Data"]["PodDeviceEntries"]
    by_numa_node = {numa: ids for entry in entries for numa, ids in entry["DeviceIDs"].items()}
    gpus = cluster.nodes[node].gpus.gpus()
    expected: dict[str, set[str]] = {}
    for gpu in gpus:
        expected.setdefault(str(gpu.numa_node), set()).add(gpu.uuid)
    assert NOWHERE not in by_numa_node
    assert {numa: set(ids) for numa, ids in by_numa_node.items()} == expected
