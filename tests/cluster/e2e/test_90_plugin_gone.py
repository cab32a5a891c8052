"""Five minutes after a device plugin died the kubelet sets the capacity to 0 and keeps the key; then it is repaired."""

import pytest

from tests.cluster import Cluster
from tests.cluster.asking import why_live_and_saved
from tests.cluster.e2e.conftest import wait_event, wait_gpus, wait_phase
from tests.cluster.e2e.test_15_plugin_never_registered import library_file, plugin_pod
from tests.cluster.install import NAMESPACE, wait_until_ready
from tests.cluster.manifests import pod

pytestmark = pytest.mark.e2e


def test_capacity_is_zero_after_the_grace(cluster: Cluster) -> None:
    wait_gpus(cluster, "gpu-c", "0", "0", timeout=400)
    cluster.apply(pod("stranded", gpus=1, on="gpu-c"))
    wait_event(cluster, "Insufficient nvidia.com/gpu")
    for answer in why_live_and_saved(cluster, "pod/stranded", "plugin-gone-after-grace"):
        assert answer.ids[:1] == ["operands/plugin-gone"], answer.text
        assert "gpu-c" in answer.evidence("operands/plugin-gone")


def test_the_driver_repaired_brings_everything_back(cluster: Cluster) -> None:
    library = library_file(cluster)
    library.with_name(library.name + ".kept").rename(library)
    cluster.kubectl("delete", "pod", "-n", NAMESPACE, plugin_pod(cluster), "--wait=false")
    wait_gpus(cluster, "gpu-c", "2", "2", timeout=120)
    cluster.apply(pod("back", gpus=1, on="gpu-c", command=("nvidia-smi", "-L")))
    wait_phase(cluster, "back", "Succeeded")
    wait_until_ready(cluster, timeout=120)
