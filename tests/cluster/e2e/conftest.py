"""One cluster with Lockgate in it, shared by the tests of the product; each test puts back what it changed."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster import Cluster, Node, install

NAMES = ("gpu-a", "gpu-b")  # the nodes that tests use; gpu-c begins without a device plugin and loses it again later
NODES = (
    Node("gpu-a", containerd="2.4", gpus="2xA100-40GB", labels={"pool": "train"}),
    Node("gpu-b", containerd="1.7", gpus="2xA100-40GB", labels={"pool": "train"}),
    Node("gpu-c", containerd="2.1", gpus="2xA100-40GB", labels={"nvidia.com/gpu.deploy.device-plugin": "false"}),
)


@pytest.fixture(scope="session")
def installed() -> Iterator[Cluster]:
    """Three nodes with two A100 each and containerd 2.4.2, 1.7.24 and 2.1.9, Lockgate installed and ready."""
    with Cluster(NODES) as cluster:
        seconds = install.install(cluster)
        print(f"ready {seconds:.1f} s after `helm install`")
        yield cluster


@pytest.fixture
def cluster(installed: Cluster) -> Iterator[Cluster]:
    """The installed cluster; what a test left in the namespaces `default` and `team` is removed after it."""
    yield installed
    for namespace in ("default", "team"):
        for kind in ("deployments", "pods", "resourcequotas", "persistentvolumeclaims"):
            installed.kubectl(
                "delete",
                kind,
                "--all",
                "-n",
                namespace,
                "--force",
                "--grace-period=0",
                "--ignore-not-found",
                check=False,
            )


def get(cluster: Cluster, kind: str, name: str, namespace: str = "default") -> dict[str, Any]:
    """An object as the API server has it; {} when there is none."""
    text = cluster.kubectl("get", kind, name, "-n", namespace, "-o", "json", "--ignore-not-found")
    return json.loads(text) if text.strip() else {}


def phase(cluster: Cluster, pod: str, namespace: str = "default") -> str:
    """A pod's phase, "" when there is no such pod."""
    return str(get(cluster, "pod", pod, namespace).get("status", {}).get("phase", ""))


def wait_phase(cluster: Cluster, pod: str, *phases: str, namespace: str = "default", timeout: float = 60) -> None:
    """Until a pod is in one of the phases."""
    cluster.wait_for(lambda: phase(cluster, pod, namespace) in phases, f"pod {pod} {' or '.join(phases)}", timeout)


def gpus(cluster: Cluster, node: str) -> tuple[str, str]:
    """Capacity and allocatable of nvidia.com/gpu on a node; "" when the key is absent."""
    status = get(cluster, "node", node)["status"]
    return tuple(status[part].get("nvidia.com/gpu", "") for part in ("capacity", "allocatable"))  # type: ignore[return-value]


def wait_gpus(cluster: Cluster, node: str, capacity: str, allocatable: str, timeout: float = 60) -> None:
    """Until a node advertises that many GPUs."""
    what = f"{node}: nvidia.com/gpu capacity {capacity}, allocatable {allocatable}"
    cluster.wait_for(lambda: gpus(cluster, node) == (capacity, allocatable), what, timeout, every=0.5)


def wait_event(cluster: Cluster, text: str, namespace: str = "default", timeout: float = 60) -> None:
    """Until an event's message holds this text."""

    def seen() -> bool:
        return text in cluster.kubectl("get", "events", "-n", namespace, "-o", "jsonpath={.items[*].message}")

    cluster.wait_for(seen, f"an event with {text!r}", timeout, every=0.5)


def wait_labels(cluster: Cluster, node: str, wanted: dict[str, str], timeout: float = 60) -> dict[str, str]:
    """All labels of a node, once it has these."""

    def labels() -> dict[str, str]:
        return dict(get(cluster, "node", node)["metadata"]["labels"])

    cluster.wait_for(lambda: wanted.items() <= labels().items(), f"{node}: labels {wanted}", timeout, every=0.5)
    return labels()
