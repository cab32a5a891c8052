"""A new setting of the container toolkit goes over real nodes one by one, stops at one that refuses it, and goes on.

The file that makes gpu-b refuse is one that its containerd could not load: the toolkit must see that before it touches
anything. When other tests have broken gpu-c's device plugin, that node is left alone and holds up nobody.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.e2e.conftest import get, gpus, published, wait_event, wait_phase, wait_published
from tests.cluster.install import NAMESPACE, policy
from tests.cluster.manifests import pod

pytestmark = pytest.mark.e2e

VARIABLE = "LOCKGATE_E2E"  # means nothing to the toolkit; its pods differ by it
BROKEN = "\nthis = is [not TOML\n"


class Watching:
    """Every toolkit pod that was ever seen, by node, and how many nodes were in change at once."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.pods: dict[str, set[str]] = defaultdict(set)
        self.with_setting: dict[str, str] = {}
        self.names: set[str] = set()
        self.most_at_once = 0
        self.look()

    def look(self) -> None:
        changing = {"gpu-a", "gpu-b", "gpu-c"}
        self.with_setting, self.names = {}, set()
        for item in pods(self._cluster, "nvidia-container-toolkit-daemonset"):
            node = item["spec"].get("nodeName", "")
            if not node:
                continue  # just made, not bound by the scheduler yet
            self.pods[node].add(item["metadata"]["uid"])
            if not item["metadata"].get("deletionTimestamp"):
                self.with_setting[node] = setting(item)
                self.names.add(item["metadata"]["name"])
                if is_ready(item):
                    changing.discard(node)
        self.most_at_once = max(self.most_at_once, len(changing))

    def until(self, holds: Callable[[], bool], what: str, timeout: float = 240) -> None:
        def seen() -> bool:
            self.look()
            return holds()

        self._cluster.wait_for(seen, what, timeout, every=0.5)


def pods(cluster: Cluster, app: str) -> list[dict[str, Any]]:
    listed = cluster.kubectl("get", "pods", "-n", NAMESPACE, "-l", f"app={app}", "-o", "json")
    found: list[dict[str, Any]] = json.loads(listed)["items"]
    return found


def setting(toolkit: dict[str, Any]) -> str:
    environment = toolkit["spec"]["containers"][0]["env"]
    return next((str(entry["value"]) for entry in environment if entry["name"] == VARIABLE), "")


def is_ready(item: dict[str, Any]) -> bool:
    conditions = item["status"].get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def toolkit(cluster: Cluster) -> dict[str, str]:
    """The toolkit's condition."""
    conditions: list[dict[str, str]] = policy(cluster).get("conditions", [])  # type: ignore[assignment]
    return next((found for found in conditions if found["type"] == "ContainerToolkitReady"), {})


def is_broken(cluster: Cluster) -> bool:
    """Whether gpu-c has a device plugin that ought to run and no GPUs: other tests have torn its driver."""
    labels = get(cluster, "node", "gpu-c")["metadata"]["labels"]
    return labels.get("nvidia.com/gpu.deploy.device-plugin") == "true" and gpus(cluster, "gpu-c")[1] in ("", "0")


def is_over(cluster: Cluster) -> bool:
    """Nothing is left to do: every node is verified, or two are and the broken one is said to be left alone."""
    found = toolkit(cluster)
    held = "2 of 3 nodes have the new revision and are verified; gpu-c keeps the old one until it is mended"
    return found.get("reason") == "Running" or held in found.get("message", "")


def is_verified(state: dict[str, Any]) -> bool:
    """Whether a node's toolkit has done its work and the validator agrees."""
    steps = state.get("validation", {}).get("steps", ())
    return state.get("runtime", {}).get("phase") == "Configured" and bool(steps) and all(s["ready"] for s in steps)


def change(cluster: Cluster, value: str, at_once: str = "1") -> None:
    environment = [{"name": VARIABLE, "value": value}] if value else []
    spec = {"toolkit": {"env": environment}, "daemonsets": {"rollingUpdate": {"maxUnavailable": at_once}}}
    cluster.kubectl("patch", "clusterpolicy", "cluster-policy", "--type=merge", "-p", json.dumps({"spec": spec}))


@pytest.fixture(scope="module")
def config(installed: Cluster) -> Iterator[Path]:
    """gpu-b's top-level file, in the end without what these tests break it with."""
    path = installed.nodes["gpu-b"].files / "etc/containerd/config.toml"
    yield path
    mend(path)


def mend(path: Path) -> None:
    path.write_text(path.read_text().replace(BROKEN, ""))


@pytest.fixture(scope="module")
def watching(installed: Cluster) -> Watching:
    return Watching(installed)


def test_a_new_setting_reaches_one_node_after_the_other_and_stops_at_the_first_that_refuses_it(
    cluster: Cluster, config: Path, watching: Watching
) -> None:
    change(cluster, "new")
    watching.until(lambda: watching.with_setting.get("gpu-a") == "new", "gpu-a is the first")
    with config.open("a") as file:
        file.write(BROKEN)
    # It stops already while the last word of the toolkit before the new one stands: Drifted.
    refused = "gpu-b: its toolkit says Refused"
    watching.until(lambda: refused in toolkit(cluster).get("message", ""), "the new toolkit's word is told")
    assert watching.with_setting == {"gpu-a": "new", "gpu-b": "new", "gpu-c": ""}
    assert toolkit(cluster)["reason"] == "RolloutStopped"
    message = toolkit(cluster)["message"]
    assert "config.toml" in message, message
    assert "gpu-c keeps the old one" in message, message
    wait_event(cluster, "cluster-policy", "gpu-b: its toolkit says Refused")
    cluster.wait_for(lambda: policy(cluster)["state"] == "notReady", "state: notReady")
    cluster.apply(pod("rolled", gpus=1, on="gpu-a", command=("nvidia-smi", "-L")))
    wait_phase(cluster, "rolled", "Succeeded")


def test_another_operator_neither_goes_past_the_failure_nor_changes_a_node_again(
    cluster: Cluster, config: Path, watching: Watching
) -> None:
    (old,) = [p for p in pods(cluster, "gpu-operator") if "deletionTimestamp" not in p["metadata"]]
    cluster.kubectl("delete", "pod", "-n", NAMESPACE, old["metadata"]["name"])

    def works() -> bool:
        events = json.loads(cluster.kubectl("get", "events", "-o", "json"))["items"]
        return any(e["reason"] == "RolloutStopped" and (e.get("count") or 1) > 1 for e in events)

    watching.until(works, "the new operator says that the rollout has stopped")
    assert watching.with_setting == {"gpu-a": "new", "gpu-b": "new", "gpu-c": ""}


def test_once_the_cause_is_gone_it_goes_on_by_itself_and_every_node_was_changed_once(
    cluster: Cluster, config: Path, watching: Watching
) -> None:
    mend(config)
    watching.until(lambda: is_over(cluster), "the rollout ends")
    last = "" if is_broken(cluster) else "new"
    assert watching.with_setting == {"gpu-a": "new", "gpu-b": "new", "gpu-c": last}
    seen = {node: len(uids) for node, uids in watching.pods.items()}
    assert seen == {"gpu-a": 2, "gpu-b": 2, "gpu-c": 2 if last else 1}
    assert watching.most_at_once == 1
    for node in ("gpu-a", "gpu-b"):
        wait_published(cluster, node, is_verified, "phase Configured, and every step of the validation ready")
        assert published(cluster, node)["runtime"]["pod"] in watching.names, "the new pod says so itself"


def test_a_larger_budget_takes_them_together(cluster: Cluster, watching: Watching) -> None:
    """The setting goes again, on all three nodes at once."""
    change(cluster, "", at_once="3")
    watching.until(lambda: not any(watching.with_setting.values()), "every node has it")
    watching.until(lambda: is_over(cluster), "and is verified")
    assert watching.most_at_once > 1
    change(cluster, "")
