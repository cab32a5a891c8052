"""Five minutes after a device plugin died the kubelet sets the capacity to 0 and keeps the key; then it is repaired."""

import json

import pytest

from tests.cluster import Cluster
from tests.cluster.asking import why_live_and_saved
from tests.cluster.e2e.conftest import wait_gpus, wait_phase, wait_unscheduled
from tests.cluster.e2e.test_15_plugin_never_registered import library_file, plugin_pod
from tests.cluster.install import NAMESPACE, wait_until_ready
from tests.cluster.manifests import pod

pytestmark = pytest.mark.e2e


def test_capacity_is_zero_after_the_grace(cluster: Cluster) -> None:
    wait_gpus(cluster, "gpu-c", "0", "0", timeout=400)
    cluster.apply(pod("stranded", gpus=1, on="gpu-c"))
    wait_unscheduled(cluster, "stranded", "Insufficient nvidia.com/gpu")
    for answer in why_live_and_saved(cluster, "pod/stranded", "plugin-gone-after-grace"):
        assert answer.ids[:1] == ["operands/plugin-gone"], answer.text
        assert "gpu-c" in answer.evidence("operands/plugin-gone")


def test_an_operand_that_waits_in_init_names_the_stage_before_it(cluster: Cluster) -> None:
    select = ("-l", "app=nvidia-operator-validator", "--field-selector", "spec.nodeName=gpu-c")
    cluster.kubectl("delete", "pod", "-n", NAMESPACE, *select, "--wait=false")

    def waits() -> bool:
        items = json.loads(cluster.kubectl("get", "pods", "-n", NAMESPACE, *select, "-o", "json"))["items"]
        new = next((p for p in items if "deletionTimestamp" not in p["metadata"]), {"status": {}})
        first = new["status"].get("initContainerStatuses", [{}])[0].get("state", {})
        said = (
            ("logs", "-n", NAMESPACE, new["metadata"]["name"], "-c", "driver-validation") if "running" in first else ()
        )
        return bool(said) and "not ready" in cluster.kubectl(*said, check=False)

    cluster.wait_for(waits, "the validator's first step waits on gpu-c", timeout=240)
    for answer in why_live_and_saved(cluster, "operand/operator-validator", "init-waits"):
        assert answer.ids[:1] == ["operands/init-waits"], answer.text
        assert "libnvidia-ml" in answer.evidence("operands/init-waits"), answer.text


def test_the_driver_repaired_brings_everything_back(cluster: Cluster) -> None:
    library = library_file(cluster)
    library.with_name(library.name + ".kept").rename(library)
    cluster.kubectl("delete", "pod", "-n", NAMESPACE, plugin_pod(cluster), "--wait=false")
    wait_gpus(cluster, "gpu-c", "2", "2", timeout=240)
    cluster.apply(pod("back", gpus=1, on="gpu-c", command=("nvidia-smi", "-L")))
    wait_phase(cluster, "back", "Succeeded")
    wait_until_ready(cluster, timeout=240)
