"""After `helm install` a GPU pod runs: labels, operands, both gates, two pods on two GPUs, and a third that waits."""

import json
import subprocess
import time
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.e2e.conftest import (
    NAMES,
    get,
    handlers,
    phase,
    published,
    wait_gpus,
    wait_labels,
    wait_phase,
    wait_published,
    wait_unscheduled,
)
from tests.cluster.install import NAMESPACE, policy
from tests.cluster.manifests import pod

pytestmark = pytest.mark.e2e

_LOOKS = 4
SMI = ("nvidia-smi", "-L")


def test_every_node_advertises_its_gpus(cluster: Cluster) -> None:
    for node in NAMES:
        wait_gpus(cluster, node, "2", "2")


def test_nodes_carry_the_labels_of_discovery_operator_and_features(cluster: Cluster) -> None:
    for node in NAMES:
        labels = get(cluster, "node", node)["metadata"]["labels"]
        assert labels["feature.node.kubernetes.io/pci-10de.present"] == "true"
        assert labels["feature.node.kubernetes.io/kernel-version.full"]
        assert labels["nvidia.com/gpu.present"] == "true"
        assert labels["nvidia.com/gpu.deploy.device-plugin"] == "true"
        wanted = {
            "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB",
            "nvidia.com/gpu.count": "2",
            "nvidia.com/gpu.memory": "40960",
            "nvidia.com/gpu.family": "ampere",
            "nvidia.com/gpu.replicas": "1",
        }
        wait_labels(cluster, node, wanted)


def test_the_policy_says_ready_and_names_every_operand(cluster: Cluster) -> None:
    def conditions() -> dict[str, str]:
        return {c["type"]: c["status"] for c in policy(cluster)["conditions"]}  # type: ignore[attr-defined]

    cluster.wait_for(lambda: conditions().get("Ready") == "True", "the policy's condition Ready")
    assert len(conditions()) > 2, "a condition for each operand"


def test_a_pod_gets_one_gpu_and_sees_only_that(cluster: Cluster) -> None:
    started = time.monotonic()
    cluster.apply(pod("one", gpus=1, command=SMI))
    wait_phase(cluster, "one", "Succeeded")
    seconds = time.monotonic() - started
    lines = cluster.kubectl("logs", "one").splitlines()
    assert len(lines) == 1, lines
    node = get(cluster, "pod", "one")["spec"]["nodeName"]
    assert uuid_of(lines[0]) in uuids_published(cluster, node)
    print(f"pod created to `nvidia-smi -L` done: {seconds:.1f} s")


@pytest.mark.parametrize("node", ["gpu-a", "gpu-b"])
def test_two_pods_get_two_gpus_on_either_release_of_containerd(cluster: Cluster, node: str) -> None:
    for name in ("first", "second"):
        cluster.apply(pod(name, gpus=1, on=node, command=("sh", "-c", "nvidia-smi -L; sleep infinity")))
    for name in ("first", "second"):
        wait_phase(cluster, name, "Running")
    cluster.wait_for(lambda: all(cluster.kubectl("logs", name) for name in ("first", "second")), "both wrote")
    seen = {uuid_of(cluster.kubectl("logs", name)) for name in ("first", "second")}
    assert seen == uuids_published(cluster, node)
    cluster.apply(pod("third", gpus=1, on=node))
    wait_unscheduled(cluster, "third", "Insufficient nvidia.com/gpu")
    assert phase(cluster, "third") == "Pending"


def test_a_pod_without_a_gpu_sees_none(cluster: Cluster) -> None:
    cluster.apply(pod("none", command=("sh", "-c", "ls /dev/nvidia* ; nvidia-smi -L")))
    wait_phase(cluster, "none", "Failed")
    assert "GPU 0" not in cluster.kubectl("logs", "none")


def test_cuda_works_with_a_gpu_and_fails_honestly_without(cluster: Cluster) -> None:
    cluster.apply(pod("with", gpus=1, command=("cuda-vectoradd",)))
    cluster.apply(pod("without", command=("cuda-vectoradd",)))
    wait_phase(cluster, "with", "Succeeded")
    wait_phase(cluster, "without", "Failed")
    assert "Test PASSED" in cluster.kubectl("logs", "with")
    assert "Test PASSED" not in cluster.kubectl("logs", "without")


@pytest.mark.parametrize("handler", ["nvidia", "nvidia-cdi", "nvidia-legacy"])
@pytest.mark.parametrize("node", ["gpu-a", "gpu-b"])
def test_pods_that_name_a_handler_run_and_get_their_gpu(cluster: Cluster, node: str, handler: str) -> None:
    cluster.apply(pod("named", gpus=1, on=node, command=SMI, runtimeClassName=handler))
    wait_phase(cluster, "named", "Succeeded")
    assert len(cluster.kubectl("logs", "named").splitlines()) == 1


def test_each_node_publishes_what_it_has_loaded(cluster: Cluster) -> None:
    for node, release in (("gpu-a", "2.4"), ("gpu-b", "1.7")):
        wait_published(cluster, node, is_whole, "every section, each step ready")
        status = published(cluster, node)
        assert {"nvidia", "nvidia-cdi", "nvidia-legacy", "runc"} <= handlers(status)
        assert status["runtime"]["release"].startswith(release)
        assert status["runtime"]["cdiEnabled"] is True
        assert {"nvidia.com/gpu", "k8s.device-plugin.nvidia.com/gpu"} <= {s["kind"] for s in status["cdi"]["specs"]}
        assert [d.get("healthy", True) for d in status["devices"]["devices"]] == [True, True]
        assert status["devices"]["registered"] is True
        assert all(step["ready"] for step in status["validation"]["steps"])
        assert status["driver"]["version"]


def is_whole(state: dict[str, Any]) -> bool:
    """Whether each of a node's agents has published its section, and every step of the validation is done."""
    steps = state.get("validation", {}).get("steps", ())
    return {"runtime", "cdi", "devices", "driver"} <= state.keys() and bool(steps) and all(s["ready"] for s in steps)


def test_looking_again_writes_nothing(cluster: Cluster) -> None:
    def versions() -> dict[str, str]:
        items = json.loads(cluster.kubectl("get", "gpunodestates.lockgate.dev", "-o", "json"))["items"]
        return {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in items}

    # What the tests before did to the nodes may still be noted down: then it is looked at again.
    for _ in range(_LOOKS):
        before = versions()
        time.sleep(8)
        if (after := versions()) == before:
            break
    assert after == before


def test_an_agent_may_not_write_another_nodes_state(cluster: Cluster) -> None:
    pods = json.loads(
        cluster.kubectl("get", "pods", "-n", NAMESPACE, "-l", "app=nvidia-device-plugin-daemonset", "-o", "json")
    )
    mine = next(item for item in pods["items"] if item["spec"]["nodeName"] == "gpu-a")
    account = mine["spec"]["serviceAccountName"]
    bound = ("--bound-object-kind=Pod", f"--bound-object-name={mine['metadata']['name']}")
    token = cluster.kubectl("create", "token", account, "-n", NAMESPACE, *bound).strip()
    patch = (
        "patch",
        "gpunodestates.lockgate.dev",
        "gpu-b",
        "--type=merge",
        "-p",
        '{"status":{"driver":{"error":"forged"}}}',
    )
    flags = (
        "--server",
        cluster.server,
        "--token",
        token,
        "--insecure-skip-tls-verify=true",
        "--kubeconfig",
        "/dev/null",
    )
    answer = cluster.nodes["gpu-a"].exec(["true"]) or _denied(cluster, *patch, *flags)
    assert "forged" not in json.dumps(get(cluster, "gpunodestates.lockgate.dev", "gpu-b"))
    assert "denied" in answer or "forbidden" in answer.lower(), answer


def _denied(cluster: Cluster, *arguments: str) -> str:
    done = subprocess.run([str(cluster.program("kubectl")), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return done.stderr


def uuid_of(line: str) -> str:
    return line.partition("UUID: ")[2].partition(")")[0]


def uuids_published(cluster: Cluster, node: str) -> set[str]:
    return {device["uuid"] for device in published(cluster, node)["devices"]["devices"]}


def test_gpus_are_counted_again_when_all_pods_are_gone(cluster: Cluster) -> None:
    for node in NAMES:
        wait_gpus(cluster, node, "2", "2")
