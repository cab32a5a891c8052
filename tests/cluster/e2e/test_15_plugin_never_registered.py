"""A node whose device plugin was kept away has no `nvidia.com/gpu` at all; `why` says which label does it.

The same node loses its plugin again at the end of this file, for a reason of its own: `test_90_plugin_gone` looks at it
when the kubelet's five minutes are over, while the tests between run on the other nodes.
"""

import json
from pathlib import Path

import pytest

from tests.cluster import Cluster
from tests.cluster.asking import why_live_and_saved
from tests.cluster.e2e.conftest import gpus, wait_gpus, wait_phase, wait_unscheduled
from tests.cluster.install import NAMESPACE
from tests.cluster.manifests import pod

pytestmark = pytest.mark.e2e

LABEL = "nvidia.com/gpu.deploy.device-plugin"
LIBRARY = "run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"


def test_the_label_that_keeps_the_plugin_away_is_named(cluster: Cluster) -> None:
    assert gpus(cluster, "gpu-c") == ("", "")
    cluster.apply(pod("early", gpus=1, on="gpu-c"))
    wait_unscheduled(cluster, "early", "Insufficient nvidia.com/gpu")
    for answer in why_live_and_saved(cluster, "pod/early", "plugin-never-registered"):
        assert answer.ids[:1] == ["operands/plugin-not-targeted"], answer.text
        shown = answer.evidence("operands/plugin-not-targeted")
        assert LABEL in shown and "gpu-c" in shown and "nvidia-device-plugin-daemonset" in shown
        assert answer.code == 3


def test_without_the_label_the_plugin_registers_and_the_pod_runs(cluster: Cluster) -> None:
    cluster.kubectl("label", "node", "gpu-c", f"{LABEL}=true", "--overwrite")
    wait_gpus(cluster, "gpu-c", "2", "2")
    cluster.apply(pod("early", gpus=1, on="gpu-c", command=("nvidia-smi", "-L")))
    wait_phase(cluster, "early", "Succeeded")


def test_a_plugin_that_dies_takes_the_gpus_with_it_at_once(cluster: Cluster) -> None:
    """The driver's library is torn, as a half-done upgrade leaves it, and the plugin cannot start again."""
    library = library_file(cluster)
    library.rename(library.with_name(library.name + ".kept"))
    library.write_bytes(b"torn")
    cluster.kubectl("delete", "pod", "-n", NAMESPACE, plugin_pod(cluster), "--wait=false")
    wait_gpus(cluster, "gpu-c", "2", "0")
    cluster.apply(pod("orphan", gpus=1, on="gpu-c"))
    wait_unscheduled(cluster, "orphan", "Insufficient nvidia.com/gpu")
    cluster.wait_for(lambda: restarts(cluster) > 0, "the plugin fails on gpu-c", timeout=180)
    for answer in why_live_and_saved(cluster, "pod/orphan", "plugin-died"):
        assert answer.ids[:1] == ["operands/plugin-gone"], answer.text
        shown = answer.evidence("operands/plugin-gone")
        assert "gpu-c" in shown and "libnvidia-ml" in shown, answer.text


def library_file(cluster: Cluster) -> Path:
    """The versioned file behind the soname link, seen from the machine (where the link's own path leads elsewhere)."""
    link = cluster.nodes["gpu-c"].files / LIBRARY
    return link.parent / link.readlink().name


def plugin_pod(cluster: Cluster, node: str = "gpu-c") -> str:
    found: list[str] = []

    def look() -> bool:
        found[:] = [_plugin(cluster, node).get("metadata", {}).get("name", "")]
        return found != [""]

    cluster.wait_for(look, f"a pod of the device plugin on {node}")
    return found[0]


def restarts(cluster: Cluster, node: str = "gpu-c") -> int:
    statuses = _plugin(cluster, node).get("status", {}).get("containerStatuses", [])
    return sum(status["restartCount"] for status in statuses)


def _plugin(cluster: Cluster, node: str) -> dict:  # type: ignore[type-arg]
    select = ("-l", "app=nvidia-device-plugin-daemonset", "--field-selector", f"spec.nodeName={node}")
    items = json.loads(cluster.kubectl("get", "pods", "-n", NAMESPACE, *select, "-o", "json"))["items"]
    # The DaemonSet makes the next one when the last is gone: in between there is none.
    return next((item for item in items if not item["metadata"].get("deletionTimestamp")), {})
