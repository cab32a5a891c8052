"""One cluster with Lockgate in it, shared by the tests of the product; each test puts back what it changed."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cluster import Cluster, Node, install

TEAM = "team"  # the namespace of workloads whose pods are refused
_MADE = "deployments,replicasets,jobs,pods,resourcequotas,persistentvolumeclaims"
# A test waits for its condition at most so long: half a minute is common on a machine that has nothing else to do.
_PATIENCE = 180.0  # seconds
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
        make_namespace(cluster, TEAM)
        seconds = install.install(cluster, timeout=300)
        print(f"ready {seconds:.1f} s after `helm install`")
        yield cluster


@pytest.fixture
def cluster(installed: Cluster) -> Iterator[Cluster]:
    """The installed cluster; what a test left in the namespaces `default` and `team` is removed after it."""
    yield installed
    for namespace in ("default", TEAM):
        installed.wait_for(lambda n=namespace: is_cleared(installed, n), f"namespace {namespace} is empty", timeout=120)


def is_cleared(cluster: Cluster, namespace: str) -> bool:
    """Delete what tests make in a namespace, owners first; whether none of it is there any more.

    A ReplicaSet outlives its Deployment for a moment, and makes a pod meanwhile for each that is deleted.
    """
    force = ("--force", "--grace-period=0", "--ignore-not-found")
    cluster.kubectl("delete", _MADE, "--all", "-n", namespace, *force, check=False)
    return not cluster.kubectl("get", _MADE, "-n", namespace, "-o", "name").strip()


def make_namespace(cluster: Cluster, name: str) -> None:
    """A namespace in which pods can be made: it has its default service account."""
    cluster.kubectl("create", "namespace", name)
    account = ("get", "serviceaccount", "default", "-n", name, "--ignore-not-found", "-o", "name")
    cluster.wait_for(lambda: cluster.kubectl(*account).strip(), f"the service account of namespace {name}")


def get(cluster: Cluster, kind: str, name: str, namespace: str = "default") -> dict[str, Any]:
    """An object as the API server has it; {} when there is none."""
    text = cluster.kubectl("get", kind, name, "-n", namespace, "-o", "json", "--ignore-not-found")
    return json.loads(text) if text.strip() else {}


def phase(cluster: Cluster, pod: str, namespace: str = "default") -> str:
    """A pod's phase, "" when there is no such pod."""
    return str(get(cluster, "pod", pod, namespace).get("status", {}).get("phase", ""))


def wait_phase(
    cluster: Cluster, pod: str, *phases: str, namespace: str = "default", timeout: float = _PATIENCE
) -> None:
    """Until a pod is in one of the phases."""
    cluster.wait_for(lambda: phase(cluster, pod, namespace) in phases, f"pod {pod} {' or '.join(phases)}", timeout)


def gpus(cluster: Cluster, node: str) -> tuple[str, str]:
    """Capacity and allocatable of nvidia.com/gpu on a node; "" when the key is absent."""
    status = get(cluster, "node", node)["status"]
    return tuple(status[part].get("nvidia.com/gpu", "") for part in ("capacity", "allocatable"))  # type: ignore[return-value]


def wait_gpus(cluster: Cluster, node: str, capacity: str, allocatable: str, timeout: float = _PATIENCE) -> None:
    """Until a node advertises that many GPUs."""
    what = f"{node}: nvidia.com/gpu capacity {capacity}, allocatable {allocatable}"
    cluster.wait_for(lambda: gpus(cluster, node) == (capacity, allocatable), what, timeout, every=0.5)


def wait_event(cluster: Cluster, about: str, text: str, namespace: str = "default") -> None:
    """Until an event says this text of the object `about`, or of one that a controller named after it.

    The object must be there now: events of what an earlier test called by that name are there for an hour.
    """

    def seen() -> bool:
        events = json.loads(cluster.kubectl("get", "events", "-n", namespace, "-o", "json"))["items"]
        return any(_is_of(event["involvedObject"]) for event in events if text in event.get("message", ""))

    def _is_of(involved: dict[str, str]) -> bool:
        name = involved["name"]
        if name != about and not name.startswith(f"{about}-"):
            return False
        found = get(cluster, involved["kind"], name, namespace)
        return bool(found) and found["metadata"]["uid"] == involved["uid"]

    cluster.wait_for(seen, f"an event of {about} with {text!r}", _PATIENCE, every=0.5)


def wait_unscheduled(cluster: Cluster, pod: str, text: str, namespace: str = "default") -> None:
    """Until the scheduler has said this text of a pod, both ways: the event and the condition come in either order."""

    def said() -> bool:
        conditions = get(cluster, "pod", pod, namespace).get("status", {}).get("conditions", ())
        return any(c["type"] == "PodScheduled" and text in c.get("message", "") for c in conditions)

    cluster.wait_for(said, f"pod {pod}: condition PodScheduled with {text!r}", _PATIENCE)
    wait_event(cluster, pod, text, namespace)


def published(cluster: Cluster, node: str) -> dict[str, Any]:
    """What a node's agents have published of it last; {} while there is nothing."""
    status: dict[str, Any] = get(cluster, "gpunodestates.lockgate.dev", node).get("status", {})
    return status


def wait_published(cluster: Cluster, node: str, holds: Callable[[dict[str, Any]], object], what: str) -> None:
    """Until what the node's agents publish is such."""
    cluster.wait_for(lambda: holds(published(cluster, node)), f"{node} publishes {what}", _PATIENCE, every=0.5)


def handlers(state: dict[str, Any]) -> set[str]:
    """The runtime handlers that a published state names as loaded."""
    return {handler["name"] for handler in state.get("runtime", {}).get("handlers", ())}


def wait_labels(cluster: Cluster, node: str, wanted: dict[str, str], timeout: float = _PATIENCE) -> dict[str, str]:
    """All labels of a node, once it has these."""

    def labels() -> dict[str, str]:
        return dict(get(cluster, "node", node)["metadata"]["labels"])

    cluster.wait_for(lambda: wanted.items() <= labels().items(), f"{node}: labels {wanted}", timeout, every=0.5)
    return labels()
