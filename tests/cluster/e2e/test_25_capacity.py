"""Capacity on the real cluster: the numbers are the scheduler's, what is said to fit is bound, nothing is changed."""

import json
from typing import Any

import pytest

from tests.cluster import Cluster, ClusterError
from tests.cluster.asking import ask
from tests.cluster.e2e.conftest import NAMES, get, wait_phase
from tests.cluster.manifests import deployment, pod

pytestmark = pytest.mark.e2e

BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "train", "namespace": "default"},
    "spec": {"selector": {"matchLabels": {"app": "train"}}, "maxUnavailable": 0},
}


def planned(cluster: Cluster, *arguments: str, code: int = 0) -> dict[str, Any]:
    """The JSON answer of a planning verb; its text has no line wider than 100 columns."""
    where = ("--kubeconfig", str(cluster.kubeconfig))
    shown = ask(*arguments, *where)
    assert (shown.returncode, max(map(len, shown.stdout.splitlines())) <= 100) == (code, True), shown.stdout
    answer: dict[str, Any] = json.loads(ask(*arguments, *where, "-o", "json").stdout)
    return answer


def row(cluster: Cluster, node: str) -> dict[str, Any]:
    rows = planned(cluster, "capacity")["rows"]
    return next(each for each in rows if (each["key"], each["resource"]) == (node, "nvidia.com/gpu"))


def versions(cluster: Cluster) -> dict[str, str]:
    """The resource versions of everything that an action could touch, but for heartbeats: specs and their pods."""
    pods = json.loads(cluster.kubectl("get", "pods", "-A", "-o", "json"))["items"]
    nodes = {name: get(cluster, "node", name) for name in NAMES}
    specs = {name: json.dumps([node["spec"], node["metadata"]["labels"]]) for name, node in nodes.items()}
    return specs | {pod["metadata"]["uid"]: pod["spec"].get("nodeName", "") for pod in pods}


def test_capacity_counts_what_is_requested_and_the_devices_behind_it(cluster: Cluster) -> None:
    cluster.apply(pod("one", gpus=1, on="gpu-a"))
    wait_phase(cluster, "one", "Running")
    seen = row(cluster, "gpu-a")
    assert [seen[name] for name in ("physical", "healthy", "capacity", "requested", "headroom")] == [2, 2, 2, 1, 1]
    text = ask("capacity", "-o", "prometheus", "--kubeconfig", str(cluster.kubeconfig)).stdout
    assert 'state="requested"} 1.0' in text


def test_what_is_said_to_fit_is_bound_and_what_is_not_waits(cluster: Cluster) -> None:
    for name in NAMES:
        cluster.apply(pod(f"hold-{name}", gpus=1, on=name))
        wait_phase(cluster, f"hold-{name}", "Running")
    assert planned(cluster, "fit", "--gpus", "2", code=3)["copies"] == 0
    placed = planned(cluster, "fit", "--gpus", "1", "--copies", "2")["where"]
    for number, node in enumerate(placed):
        cluster.apply(pod(f"try-{number}", gpus=1))
        wait_phase(cluster, f"try-{number}", "Running")
        assert node in NAMES
    bound = {get(cluster, "pod", f"try-{number}")["spec"]["nodeName"] for number in range(len(placed))}
    assert bound == set(placed)
    assert planned(cluster, "fit", "--gpus", "1", code=3)["copies"] == 0


def test_a_drain_thought_through_respects_the_real_budget_and_changes_nothing(cluster: Cluster) -> None:
    cluster.apply(deployment("train", replicas=1, gpus=1, namespace="default"))
    cluster.apply(json.dumps(BUDGET))
    try:
        cluster.wait_for(lambda: _budget(cluster).get("currentHealthy") == 1, "the budget counts its pod", 180)
        (train,) = json.loads(cluster.kubectl("get", "pods", "-l", "app=train", "-o", "json"))["items"]
        node, before = train["spec"]["nodeName"], versions(cluster)
        outcome = planned(cluster, "what-if", "--drain", node, code=3)
        assert [(fate["pod"], fate["reason"]) for fate in outcome["kept"]] == [
            (train["metadata"]["name"], "PodDisruptionBudget train allows no disruption now")
        ]
        with pytest.raises(ClusterError, match="disruption budget"):
            _evict(cluster, train["metadata"]["name"])
        assert versions(cluster) == before
    finally:
        cluster.kubectl("delete", "pdb", "train", "--ignore-not-found")
    outcome = planned(cluster, "what-if", "--drain", node)
    assert train["metadata"]["name"] in [fate["pod"] for fate in outcome["moved"]]
    _evict(cluster, train["metadata"]["name"])


def _evict(cluster: Cluster, name: str) -> None:
    """What a drain asks of the API server, as a dry run; raises ClusterError when it refuses."""
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}}
    path = f"/api/v1/namespaces/default/pods/{name}/eviction?dryRun=All"
    cluster.kubectl("create", "--raw", path, "-f", "-", stdin=json.dumps(body))


def _budget(cluster: Cluster) -> dict[str, Any]:
    status: dict[str, Any] = get(cluster, "poddisruptionbudget", "train").get("status", {})
    return status
