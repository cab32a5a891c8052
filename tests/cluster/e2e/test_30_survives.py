"""What Lockgate lives through: restarts of kubelet, containerd and itself, a removed socket, a second policy."""

import json
import time

import pytest

from tests.cluster import Cluster
from tests.cluster.e2e.conftest import NAMES, get, wait_event, wait_gpus, wait_labels, wait_phase
from tests.cluster.install import NAMESPACE, policy
from tests.cluster.manifests import pod

pytestmark = pytest.mark.e2e

REQUIRED = (
    "operator",
    "daemonsets",
    "driver",
    "toolkit",
    "devicePlugin",
    "dcgm",
    "dcgmExporter",
    "gfd",
    "nodeStatusExporter",
)
SECOND = json.dumps(
    {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "second"},
        "spec": {section: {} for section in REQUIRED},
    }
)


@pytest.mark.parametrize("node", NAMES)
def test_the_plugin_registers_again_after_a_kubelet_restart(cluster: Cluster, node: str) -> None:
    running = cluster.nodes[node]
    before = running.device_lists()
    running.supervisor.restart("kubelet")
    # The node object shows the old numbers meanwhile; a pod that comes before the plugin is refused for good.
    cluster.wait_for(lambda: running.device_lists() > before, f"{node}: the plugin registered again", timeout=180)
    wait_gpus(cluster, node, "2", "2")
    cluster.apply(pod("after", gpus=1, on=node, command=("nvidia-smi", "-L")))
    wait_phase(cluster, "after", "Succeeded")


def test_the_plugin_notices_that_its_socket_was_removed(cluster: Cluster) -> None:
    node = cluster.nodes["gpu-a"]
    socket = node.files / "var/lib/kubelet/device-plugins/nvidia-gpu.sock"
    before = node.device_lists()
    socket.unlink()
    cluster.wait_for(lambda: node.device_lists() > before, "it registered again", timeout=180)
    assert socket.exists()
    wait_gpus(cluster, "gpu-a", "2", "2")


def test_a_gpu_pod_keeps_running_through_a_restart_of_containerd(cluster: Cluster) -> None:
    cluster.apply(pod("steady", gpus=1, on="gpu-b"))
    wait_phase(cluster, "steady", "Running")
    (container,) = get(cluster, "pod", "steady")["status"]["containerStatuses"]
    before = container["containerID"]
    cluster.nodes["gpu-b"].supervisor.restart("containerd")
    cluster.nodes["gpu-b"].wait_for_containerd()
    # The kubelet waits some seconds before it dials a containerd again that was just restarted.
    smi = ("exec", "steady", "--", "nvidia-smi", "-L")
    cluster.wait_for(lambda: "GPU 0" in cluster.kubectl(*smi, check=False), "the GPU in the pod", timeout=180)
    time.sleep(3)  # in which it could be started anew
    status = get(cluster, "pod", "steady")["status"]
    assert status["phase"] == "Running"
    assert [(s["restartCount"], s["containerID"]) for s in status["containerStatuses"]] == [(0, before)]


def test_labels_stay_while_discovery_and_operator_are_replaced(cluster: Cluster) -> None:
    def ours() -> dict[str, str]:
        labels = get(cluster, "node", "gpu-a")["metadata"]["labels"]
        return {k: v for k, v in labels.items() if "nvidia.com/" in k or "feature.node" in k}

    before = ours()
    cluster.kubectl("delete", "pods", "-n", NAMESPACE, "-l", "app=lockgate-discovery", "--wait=false")
    cluster.kubectl("delete", "pods", "-n", NAMESPACE, "-l", "app=gpu-operator", "--wait=false")
    until = time.monotonic() + 20
    while time.monotonic() < until:
        assert before.keys() - ours().keys() == set()
        time.sleep(1)


def test_a_label_that_a_person_removed_comes_back(cluster: Cluster) -> None:
    cluster.kubectl("label", "node", "gpu-a", "nvidia.com/gpu.present-")
    wait_labels(cluster, "gpu-a", {"nvidia.com/gpu.present": "true"})


def test_a_second_policy_is_refused_visibly(cluster: Cluster) -> None:
    cluster.apply(SECOND)
    try:
        cluster.wait_for(lambda: policy(cluster, "second").get("state") == "ignored", "state: ignored", timeout=180)
        said = json.dumps(policy(cluster, "second"))
        assert "cluster-policy" in said, "it names the policy that is in force"
        wait_event(cluster, "second", "cluster-policy")
    finally:
        cluster.kubectl("delete", "clusterpolicies.nvidia.com", "second", "--timeout=120s", timeout=150)


def test_the_gpus_are_all_there_in_the_end(cluster: Cluster) -> None:
    for node in NAMES:
        wait_gpus(cluster, node, "2", "2")
