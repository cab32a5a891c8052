"""Uninstalling puts the nodes back: labels, handlers, drop-ins and CDI specifications are gone, containerd runs."""

import pytest

from tests.cluster import Cluster
from tests.cluster.e2e.conftest import NAMES, get
from tests.cluster.install import helm
from tests.cluster.stock import CONTAINERD_CONFIG

pytestmark = pytest.mark.e2e


def test_uninstall_puts_the_nodes_back(cluster: Cluster) -> None:
    cluster.kubectl("delete", "clusterpolicies.nvidia.com", "--all", "--timeout=240s", timeout=300)
    cluster.wait_for(lambda: not ours(cluster), "no label of ours on any node", timeout=180)
    for node in cluster.nodes.values():
        config = node.files / "etc/containerd/config.toml"
        cluster.wait_for(
            lambda config=config, node=node: config.read_text() == CONTAINERD_CONFIG[node.containerd],
            f"{node.name}: containerd's configuration as it was",
            timeout=180,
        )
        drop_in = node.files / "etc/containerd/conf.d/99-nvidia.toml"
        cluster.wait_for(lambda file=drop_in: not file.exists(), f"{node.name}: no drop-in of ours", timeout=180)
        node.wait_for_containerd()
        assert "nvidia" not in node.exec(["containerd", "config", "dump"])
    helm(cluster, "uninstall")


def ours(cluster: Cluster) -> set[str]:
    """Labels that the operator gave; gpu-c has one that a person gave it, which stays."""
    return {
        label
        for node in NAMES
        for label in get(cluster, "node", node)["metadata"]["labels"]
        if label.startswith(("nvidia.com/gpu.present", "nvidia.com/gpu.deploy."))
    }
