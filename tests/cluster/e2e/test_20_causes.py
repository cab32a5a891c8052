"""What stops a GPU pod is provoked for real and named right, live and from a bundle saved at that moment."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.asking import why_live_and_saved
from tests.cluster.e2e.conftest import (
    NAMES,
    TEAM,
    get,
    handlers,
    wait_event,
    wait_gpus,
    wait_phase,
    wait_published,
    wait_unscheduled,
)
from tests.cluster.images import PAUSE
from tests.cluster.install import NAMESPACE
from tests.cluster.manifests import deployment, pod, quota

pytestmark = pytest.mark.e2e

POOL = {"pool": "train"}  # gpu-a and gpu-b: gpu-c has lost its plugin meanwhile
STOCK_PAUSE = "registry.k8s.io/pause:3.8"  # what containerd 1.7 takes when nothing is configured


def named(
    cluster: Cluster, target: str, case: str, finding: str, *shown: str, namespace: str = "default", code: int = 3
) -> None:
    """Both answers put this finding first, exit with that code, and show these words as evidence."""
    for answer in why_live_and_saved(cluster, target, case, namespace):
        assert answer.ids[:1] == [finding], answer.text
        assert answer.code == code, answer.text
        for words in shown:
            assert words in answer.evidence(finding), f"{words!r} is not shown:\n{answer.text}"
        assert max(len(line) for line in answer.text.splitlines()) <= 100, answer.text


def not_a_gpu_fault(cluster: Cluster, target: str, case: str, finding: str, *shown: str) -> None:
    """The finding is named, and nothing of GPUs is blamed beside it."""
    for answer in why_live_and_saved(cluster, target, case):
        assert answer.causes == [finding], answer.text
        for words in shown:
            assert words in answer.evidence(finding), answer.text


def test_healthy(cluster: Cluster) -> None:
    cluster.apply(pod("train", gpus=1))
    wait_phase(cluster, "train", "Running")
    for answer in why_live_and_saved(cluster, "pod/train", "healthy"):
        assert (answer.code, answer.ids) == (0, []), answer.text


def test_every_gpu_is_held(cluster: Cluster) -> None:
    for name, node in (("a1", "gpu-a"), ("a2", "gpu-b")):
        cluster.apply(pod(name, gpus=2, on=node))
        wait_phase(cluster, name, "Running")
    cluster.apply(pod("late", gpus=1, nodeSelector=POOL))
    wait_unscheduled(cluster, "late", "Insufficient nvidia.com/gpu")
    named(cluster, "pod/late", "all-held", "scheduling/all-held", "default/a1", "default/a2", "gpu-a", "gpu-b")


def test_free_gpus_but_on_no_one_node(cluster: Cluster) -> None:
    for name, node in (("a1", "gpu-a"), ("a2", "gpu-b")):
        cluster.apply(pod(name, gpus=1, on=node))
        wait_phase(cluster, name, "Running")
    cluster.apply(pod("wide", gpus=2, nodeSelector=POOL))
    wait_unscheduled(cluster, "wide", "Insufficient nvidia.com/gpu")
    named(cluster, "pod/wide", "fragmentation", "scheduling/fragmented", "default/a1", "gpu-a", "gpu-b")


def test_one_device_is_unhealthy(cluster: Cluster) -> None:
    with xid(cluster, "gpu-a", 79):
        wait_gpus(cluster, "gpu-a", "2", "1")
        cluster.apply(pod("pair", gpus=2, on="gpu-a"))
        wait_unscheduled(cluster, "pair", "Insufficient nvidia.com/gpu")
        named(cluster, "pod/pair", "unhealthy", "xid/off-the-bus", "gpu-a", "79")
    wait_phase(cluster, "pair", "Running")


@contextmanager
def xid(cluster: Cluster, node: str, code: int) -> Iterator[None]:
    """GPU 0 of the node reports this XID and is lost; then it is repaired, as a reset would."""
    cluster.nodes[node].gpus.xid(0, code)
    cluster.nodes[node].gpus.lose(0)
    try:
        wait_published(cluster, node, lambda state: code in xids(state) and not all_healthy(state), f"XID {code}")
        yield
    finally:
        cluster.nodes[node].gpus.restore(0)


def xids(state: dict[str, Any]) -> set[int]:
    """The XIDs that a published state names."""
    return {seen["code"] for seen in state.get("devices", {}).get("xids", ())}


def all_healthy(state: dict[str, Any]) -> bool:
    return all(device.get("healthy", True) for device in state.get("devices", {}).get("devices", ()))


def test_an_untolerated_taint(cluster: Cluster) -> None:
    for node in cluster.nodes:
        cluster.kubectl("taint", "node", node, "team=research:NoSchedule")
    try:
        cluster.apply(pod("guest", gpus=1))
        wait_unscheduled(cluster, "guest", "untolerated taint")
        named(cluster, "pod/guest", "taint", "scheduling/untolerated-taint", "team", "research", "gpu-a")
    finally:
        for node in cluster.nodes:
            cluster.kubectl("taint", "node", node, "team:NoSchedule-")


def test_a_cordon(cluster: Cluster) -> None:
    for node in cluster.nodes:
        cluster.kubectl("cordon", node)
    try:
        cluster.apply(pod("waiting", gpus=1))
        wait_unscheduled(cluster, "waiting", "were unschedulable")
        named(cluster, "pod/waiting", "cordon", "scheduling/cordoned", "gpu-a", "gpu-b")
    finally:
        for node in cluster.nodes:
            cluster.kubectl("uncordon", node)


def test_a_selector_that_no_node_has(cluster: Cluster) -> None:
    cluster.apply(pod("big", gpus=1, nodeSelector={"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}))
    wait_unscheduled(cluster, "big", "didn't match Pod's node affinity/selector")
    wanted, nearest = "NVIDIA-A100-SXM4-80GB", "NVIDIA-A100-SXM4-40GB"
    named(cluster, "pod/big", "selector", "scheduling/selector", wanted, nearest)


def test_a_quota_keeps_a_deployment_without_pods(cluster: Cluster) -> None:
    cluster.apply(quota("gpu-quota", gpus=1, namespace=TEAM))
    cluster.apply(deployment("infer", replicas=2, gpus=1, namespace=TEAM))
    wait_event(cluster, "infer", "exceeded quota", TEAM)
    named(cluster, "deploy/infer", "quota", "admission/quota", "gpu-quota", namespace=TEAM)


def test_the_drop_in_trap(cluster: Cluster) -> None:
    """The guide's own accident: a registry drop-in that sorts last takes the whole CRI section on containerd 1.7."""
    node = cluster.nodes["gpu-b"]
    # The trap takes `sandbox_image` too; a node with a registry would pull this one and go on to the handler.
    node.exec(["ctr", "-n", "k8s.io", "image", "tag", "--force", PAUSE, STOCK_PAUSE])
    trap = node.files / "etc/containerd/conf.d/zz-registry.toml"
    trap.write_text(
        'version = 2\n[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/etc/containerd/certs.d"\n'
    )
    node.supervisor.restart("containerd")
    node.wait_for_containerd()
    try:
        cluster.apply(pod("trapped", gpus=1, on="gpu-b", runtimeClassName="nvidia"))
        wait_event(cluster, "trapped", 'no runtime for "nvidia" is configured')

        def sprung(state: dict[str, Any]) -> bool:
            return trap.name in json.dumps(state.get("runtime", {})) and "nvidia" not in handlers(state)

        wait_published(cluster, "gpu-b", sprung, f"{trap.name}, and no handler nvidia")
        shown = ("zz-registry.toml", "99-nvidia.toml", "gpu-b")
        named(cluster, "pod/trapped", "dropin-trap", "containerd/dropin-overridden", *shown)
    finally:
        trap.unlink()
        node.supervisor.restart("containerd")
        node.wait_for_containerd()
    wait_phase(cluster, "trapped", "Running")
    wait_published(cluster, "gpu-b", lambda state: "nvidia" in handlers(state), "handler nvidia again")


def test_an_unresolvable_cdi_device(cluster: Cluster) -> None:
    """Two files of one folder define the same device: by the CDI rules neither counts."""
    node = cluster.nodes["gpu-a"]
    specs = node.files / "run/cdi"
    twin = specs / "copy-of-plugin.json"
    twin.write_text((specs / "k8s.device-plugin.nvidia.com-gpu.json").read_text())
    try:
        cluster.apply(pod("twice", gpus=1, on="gpu-a"))
        wait_event(cluster, "twice", "unresolvable CDI devices")
        wait_published(cluster, "gpu-a", lambda state: twin.name in json.dumps(state.get("cdi")), twin.name)
        shown = ("k8s.device-plugin.nvidia.com/gpu", "gpu-a")
        named(cluster, "pod/twice", "cdi-unresolvable", "cdi/unresolvable", *shown)
    finally:
        twin.unlink()


def test_the_kubelet_refuses_a_pinned_pod(cluster: Cluster) -> None:
    cluster.apply(pod("holder", gpus=2, on="gpu-a"))
    wait_phase(cluster, "holder", "Running")
    cluster.apply(pod("pinned", gpus=1, pinned_to="gpu-a"))
    wait_phase(cluster, "pinned", "Failed")
    assert get(cluster, "pod", "pinned")["status"]["reason"] in ("UnexpectedAdmissionError", "OutOfnvidia.com/gpu")
    named(cluster, "pod/pinned", "kubelet-refused", "kubelet/refused", "default/holder", "gpu-a")


def test_a_pod_that_never_asked(cluster: Cluster) -> None:
    command = ("sh", "-c", "nvidia-smi -L || true; sleep infinity")
    cluster.apply(pod("blind", command=command))
    wait_phase(cluster, "blind", "Running")
    cluster.wait_for(lambda: "not found" in cluster.kubectl("logs", "blind"), "its program finds no nvidia-smi")
    named(cluster, "pod/blind", "never-asked", "pod/no-gpu-asked", "main")


def test_too_little_cpu_is_not_a_gpu_fault(cluster: Cluster) -> None:
    cluster.apply(pod("greedy", gpus=1, resources={"cpu": "500"}))
    wait_unscheduled(cluster, "greedy", "Insufficient cpu")
    not_a_gpu_fault(cluster, "pod/greedy", "cpu", "scheduling/other-resource", "cpu")


def test_an_image_that_cannot_be_pulled_is_not_a_gpu_fault(cluster: Cluster) -> None:
    cluster.apply(pod("typo", gpus=1, image="docker.io/lockgate/tset:1"))
    wait_event(cluster, "typo", "docker.io/lockgate/tset:1")
    cluster.wait_for(lambda: "Pull" in json.dumps(get(cluster, "pod", "typo")["status"]), "ErrImagePull")
    not_a_gpu_fault(cluster, "pod/typo", "image-pull", "pod/image", "docker.io/lockgate/tset:1")


def test_an_unbound_volume_is_not_a_gpu_fault(cluster: Cluster) -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": "data", "namespace": "default"}
    cluster.apply(
        json.dumps({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": claim})
    )
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    cluster.apply(pod("unbound", gpus=1, volumes=volumes))
    wait_unscheduled(cluster, "unbound", "unbound immediate PersistentVolumeClaims")
    not_a_gpu_fault(cluster, "pod/unbound", "volume", "scheduling/volume", "data")


def test_a_scheduling_gate_is_not_a_gpu_fault(cluster: Cluster) -> None:
    cluster.apply(pod("gated", gpus=1, schedulingGates=[{"name": "example.com/wait"}]))
    wait_phase(cluster, "gated", "Pending")
    not_a_gpu_fault(cluster, "pod/gated", "gate", "scheduling/gated", "example.com/wait")


def test_the_operands_are_still_well_after_all_that(cluster: Cluster) -> None:
    def unready() -> list[str]:
        pods = json.loads(cluster.kubectl("get", "pods", "-n", NAMESPACE, "-o", "json"))["items"]
        return [p["metadata"]["name"] for p in pods if p["spec"].get("nodeName") in ("", None, *NAMES) and not ready(p)]

    def ready(pod: dict[str, Any]) -> bool:
        statuses = pod["status"].get("containerStatuses", ())
        return bool(statuses) and all(status["ready"] for status in statuses)

    cluster.wait_for(lambda: not unready(), "every pod of Lockgate is ready on gpu-a and gpu-b")
