"""The operator on a real API server: what a policy's status says of taints and labels, disabling, drift, rights."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.e2e.conftest import get, wait_labels
from tests.cluster.install import NAMESPACE, policy, wait_until_ready

pytestmark = pytest.mark.e2e

GFD = "gpu-feature-discovery"
LABEL = f"nvidia.com/gpu.deploy.{GFD}"
FEATURE = "feature.node.kubernetes.io/e2e"
TRUTH = Path(__file__).parents[2] / "truth" / "operands" / "default.json"


def condition(cluster: Cluster, kind: str = "FeatureDiscoveryReady") -> dict[str, Any]:
    conditions: list[dict[str, Any]] = policy(cluster).get("conditions", [])  # type: ignore[assignment]
    return next((found for found in conditions if found["type"] == kind), {})


def says(cluster: Cluster, reason: str, *words: str) -> None:
    def holds() -> bool:
        found = condition(cluster)
        return found.get("reason") == reason and all(word in found["message"] for word in words)

    cluster.wait_for(holds, f"FeatureDiscoveryReady says {reason} {words}", timeout=180)


def change(cluster: Cluster, **spec: Any) -> None:
    cluster.kubectl("patch", "clusterpolicy", "cluster-policy", "--type=merge", "-p", json.dumps({"spec": spec}))


def test_nvidias_own_policy_is_accepted_unchanged_even_by_strict_validation(cluster: Cluster) -> None:
    manifest = {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "gpu-cluster-policy"},
        "spec": json.loads(TRUTH.read_text())["policy"],
    }
    strict = ("apply", "--dry-run=server", "--validate=strict", "-f", "-")
    assert "created (server dry run)" in cluster.kubectl(*strict, stdin=json.dumps(manifest))


def test_a_policy_with_a_wrong_value_is_refused_by_the_schema(cluster: Cluster) -> None:
    wrong = json.dumps({"spec": {"mig": {"strategy": "sometimes"}}})
    cluster.kubectl("patch", "clusterpolicy", "cluster-policy", "--type=merge", "-p", wrong, check=False)
    assert get(cluster, "clusterpolicy", "cluster-policy")["spec"]["mig"]["strategy"] == "single"


def test_a_taint_that_keeps_an_operand_away_is_named(cluster: Cluster) -> None:
    cluster.kubectl("taint", "node", "gpu-b", "team=ml:NoSchedule")
    try:
        says(cluster, "Blocked", "gpu-b", "untolerated taint team=ml:NoSchedule")
        cluster.wait_for(lambda: policy(cluster)["state"] == "notReady", "state: notReady")
    finally:
        cluster.kubectl("taint", "node", "gpu-b", "team-")
    wait_until_ready(cluster)


def test_a_node_that_a_person_leaves_out_is_noted_and_stays_left_out(cluster: Cluster) -> None:
    cluster.kubectl("label", "node", "gpu-b", f"{LABEL}=false", "--overwrite")
    try:
        says(cluster, "Running", "not on", f"gpu-b: {LABEL}=false")
        assert get(cluster, "node", "gpu-b")["metadata"]["labels"][LABEL] == "false"
    finally:
        cluster.kubectl("label", "node", "gpu-b", f"{LABEL}-")
    wait_labels(cluster, "gpu-b", {LABEL: "true"})
    wait_until_ready(cluster)


def test_an_operand_goes_when_it_is_disabled_and_comes_back(cluster: Cluster) -> None:
    change(cluster, gfd={"enabled": False})
    cluster.wait_for(lambda: not get(cluster, "daemonset", GFD, NAMESPACE), "the DaemonSet is gone")
    cluster.wait_for(lambda: not condition(cluster), "its condition is gone")
    wait_until_ready(cluster)
    change(cluster, gfd={"enabled": True})
    says(cluster, "Running")


def test_an_operand_that_somebody_edits_is_put_right(cluster: Cluster) -> None:
    patch = {"spec": {"template": {"spec": {"priorityClassName": "system-cluster-critical"}}}}
    cluster.kubectl("patch", "daemonset", GFD, "-n", NAMESPACE, "-p", json.dumps(patch))

    def priority() -> str:
        found: str = get(cluster, "daemonset", GFD, NAMESPACE)["spec"]["template"]["spec"]["priorityClassName"]
        return found

    cluster.wait_for(lambda: priority() == "system-node-critical", "the operator's own priority class")
    wait_until_ready(cluster)


def test_what_is_asked_for_in_vain_is_said_and_taken_back(cluster: Cluster) -> None:
    change(cluster, dcgm={"enabled": True})
    cluster.wait_for(
        lambda: condition(cluster, "DCGMReady").get("reason") == "Unsupported", "DCGMReady says Unsupported"
    )
    assert "spec.dcgm.enabled=false" in condition(cluster, "DCGMReady")["message"]
    change(cluster, dcgm={"enabled": False})
    wait_until_ready(cluster)


@pytest.mark.parametrize(
    ("account", "arguments", "refused"),
    [
        ("lockgate-discovery", ("label", "node", "gpu-a", "feature.node.kubernetes.io/e2e=1"), ""),
        ("lockgate-discovery", ("label", "node", "gpu-a", "feature.node.kubernetes.io/e2e-"), ""),
        (
            "lockgate-discovery",
            ("label", "node", "gpu-b", "feature.node.kubernetes.io/e2e=1"),
            "may not change node 'gpu-b'",
        ),
        (
            "lockgate-discovery",
            ("label", "node", "gpu-a", "nvidia.com/gpu.count=9", "--overwrite"),
            "may change only labels",
        ),
        ("nvidia-gpu-feature-discovery", ("taint", "node", "gpu-a", "a=b:NoSchedule"), "may change only labels"),
        ("nvidia-device-plugin", ("label", "node", "gpu-a", "nvidia.com/x=1"), "cannot patch resource"),
        ("gpu-operator", ("get", "secrets"), "cannot list resource"),
        ("gpu-operator", ("create", "role", "r", "--verb=get", "--resource=pods"), "cannot create resource"),
    ],
)
def test_an_account_may_do_its_own_work_and_no_more(
    cluster: Cluster, account: str, arguments: tuple[str, ...], refused: str
) -> None:
    bound = ("--bound-object-kind=Node", "--bound-object-name=gpu-a")
    token = cluster.kubectl("create", "token", account, "-n", NAMESPACE, *bound).strip()
    server = ("--server", cluster.server, "--token", token, "--insecure-skip-tls-verify=true")
    command = [str(cluster.program("kubectl")), *arguments, *server, "--kubeconfig", "/dev/null", "-n", NAMESPACE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is (refused == ""), done.stderr
    assert refused in done.stderr
