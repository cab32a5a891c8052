"""More of what stops a GPU pod, provoked for real: admission, claims, schedulers, a GPU that is lost while in use."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.cluster import Cluster, ClusterError
from tests.cluster.e2e.conftest import TEAM, get, wait_event, wait_phase, wait_unscheduled
from tests.cluster.e2e.test_20_causes import POOL, named, xid
from tests.cluster.manifests import deployment, pod

pytestmark = pytest.mark.e2e


@contextmanager
def applied(cluster: Cluster, kind: str, name: str, api_version: str = "v1", **body: object) -> Iterator[None]:
    """An object that is there for the length of a test."""
    metadata = {"name": name, "namespace": TEAM}
    cluster.apply(json.dumps({"apiVersion": api_version, "kind": kind, "metadata": metadata} | body))
    try:
        yield
    finally:
        cluster.kubectl("delete", kind, name, "-n", TEAM, "--ignore-not-found", "--wait=false")


def of_deployment(name: str, *, gpus: int = 1, **spec: Any) -> str:
    """A Deployment of GPU pods in the namespace `team`, `spec` laid over its pods'."""
    body = json.loads(deployment(name, replicas=1, gpus=gpus, namespace=TEAM))
    body["spec"]["template"]["spec"] |= spec
    return json.dumps(body)


def wait_refused(cluster: Cluster, text: str, **spec: Any) -> None:
    """Until the API server refuses such a pod: what it judges pods by reaches it a moment after it was written."""
    manifest = pod("tried", namespace=TEAM, **spec)

    def refused() -> bool:
        try:
            cluster.kubectl("apply", "--dry-run=server", "-f", "-", stdin=manifest)
        except ClusterError as error:
            return text in str(error)
        return False

    cluster.wait_for(refused, f"a pod is refused with {text!r}")


def test_a_limit_range_keeps_a_deployment_without_pods(cluster: Cluster) -> None:
    limit = {"type": "Container", "max": {"nvidia.com/gpu": "1"}}
    with applied(cluster, "LimitRange", "one-gpu", spec={"limits": [limit]}):
        wait_refused(cluster, "maximum nvidia.com/gpu usage per Container", gpus=2)
        cluster.apply(of_deployment("wide", gpus=2))
        wait_event(cluster, "wide", "maximum nvidia.com/gpu usage per Container", TEAM)
        named(cluster, "deploy/wide", "limit-range", "admission/limit-range", "one-gpu", namespace=TEAM)


def test_pod_security_refuses_a_host_path(cluster: Cluster) -> None:
    cluster.kubectl("label", "namespace", TEAM, "pod-security.kubernetes.io/enforce=baseline", "--overwrite")
    try:
        volumes = [{"name": "dev", "hostPath": {"path": "/dev"}}]
        wait_refused(cluster, "violates PodSecurity", volumes=volumes)
        cluster.apply(of_deployment("hostly", volumes=volumes))
        wait_event(cluster, "hostly", "violates PodSecurity", TEAM)
        named(cluster, "deploy/hostly", "pod-security", "admission/pod-security", "baseline", namespace=TEAM)
    finally:
        cluster.kubectl("label", "namespace", TEAM, "pod-security.kubernetes.io/enforce-")


def test_a_priority_class_that_is_not_there(cluster: Cluster) -> None:
    cluster.apply(of_deployment("urgent", priorityClassName="gpu-high"))
    wait_event(cluster, "urgent", "no PriorityClass with name gpu-high", TEAM)
    named(cluster, "deploy/urgent", "priority-class", "admission/priority-class", "gpu-high", namespace=TEAM)


def test_a_runtime_class_that_is_not_there(cluster: Cluster) -> None:
    cluster.apply(of_deployment("typed", runtimeClassName="nvdia"))
    wait_event(cluster, "typed", 'RuntimeClass "nvdia" not found', TEAM)
    finding = "admission/runtime-class-missing"
    named(cluster, "deploy/typed", "runtime-class-missing", finding, "nvdia", namespace=TEAM)


def test_a_webhook_that_does_not_answer(cluster: Cluster) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    service = {"name": "gone", "namespace": TEAM, "port": 443}
    hook = {
        "name": "pods.gone.example",
        "clientConfig": {"service": service},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": TEAM}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 2,
    }
    version, kind = "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"
    with applied(cluster, kind, "gone", version, webhooks=[hook]):
        wait_refused(cluster, "pods.gone.example")
        cluster.apply(of_deployment("hooked"))
        wait_event(cluster, "hooked", 'failed calling webhook "pods.gone.example"', TEAM)
        shown = "pods.gone.example"
        named(cluster, "deploy/hooked", "webhook-down", "admission/webhook-down", shown, namespace=TEAM)


def test_a_scheduler_that_does_not_run(cluster: Cluster) -> None:
    cluster.apply(pod("elsewhere", gpus=1, schedulerName="volcano"))
    wait_phase(cluster, "elsewhere", "Pending")
    named(cluster, "pod/elsewhere", "scheduler-absent", "scheduling/scheduler-absent", "volcano")


def test_a_resource_that_no_node_has(cluster: Cluster) -> None:
    cluster.apply(pod("plural", resources={"nvidia.com/gpus": "1"}))
    wait_unscheduled(cluster, "plural", "Insufficient nvidia.com/gpus")
    named(cluster, "pod/plural", "wrong-name", "scheduling/misspelt", "nvidia.com/gpus")


def test_two_that_may_not_stand_together(cluster: Cluster) -> None:
    term = {"labelSelector": {"matchLabels": {"app": "lone"}}, "topologyKey": "pool"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    for name in ("lone-a", "lone-b"):
        body = json.loads(pod(name, gpus=1, nodeSelector=POOL, affinity=affinity))
        body["metadata"]["labels"] = {"app": "lone"}
        cluster.apply(json.dumps(body))
        wait_phase(cluster, "lone-a", "Running")
    wait_unscheduled(cluster, "lone-b", "didn't match pod anti-affinity rules")
    named(cluster, "pod/lone-b", "anti-affinity", "scheduling/placement", "app=lone per pool")


def test_a_handler_that_containerd_has_not(cluster: Cluster) -> None:
    with applied(cluster, "RuntimeClass", "special", "node.k8s.io/v1", handler="nvidia-special"):
        cluster.apply(pod("special", gpus=1, on="gpu-a", runtimeClassName="special"))
        wait_event(cluster, "special", 'no runtime for "nvidia-special" is configured')
        shown = ("nvidia-special", "gpu-a")
        named(cluster, "pod/special", "handler-absent", "containerd/handler-missing", *shown)


def test_a_claim_that_is_not_there(cluster: Cluster) -> None:
    """Of such a pod the scheduler says nothing at all."""
    cluster.apply(pod("claiming", resourceClaims=[{"name": "gpu", "resourceClaimName": "my-gpu"}]))
    wait_phase(cluster, "claiming", "Pending")
    named(cluster, "pod/claiming", "claim-missing", "claims/claim-missing", "my-gpu")


def test_a_device_class_that_is_not_there(cluster: Cluster) -> None:
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
    claim = {"devices": {"requests": [request]}}
    version = "resource.k8s.io/v1"
    with applied(cluster, "ResourceClaim", "my-gpu", version, spec=claim):
        cluster.apply(pod("classy", namespace=TEAM, resourceClaims=[{"name": "gpu", "resourceClaimName": "my-gpu"}]))
        wait_event(cluster, "classy", "gpu.nvidia.com", TEAM)
        named(cluster, "pod/classy", "class-missing", "claims/class-missing", "gpu.nvidia.com", namespace=TEAM)


def test_a_gpu_is_lost_while_it_is_in_use(cluster: Cluster) -> None:
    asking = ("sh", "-c", "while nvidia-smi; do sleep 1; done; nvidia-smi -L; exit 15")
    cluster.apply(pod("training", gpus=2, on="gpu-a", command=asking))
    wait_phase(cluster, "training", "Running")
    with xid(cluster, "gpu-a", 79):
        wait_phase(cluster, "training", "Failed")
        named(cluster, "pod/training", "gpu-lost", "xid/off-the-bus", "gpu-a", "79")
    cluster.wait_for(lambda: _healthy(cluster, "gpu-a") == 2, "both GPUs are healthy again", 180)


def _healthy(cluster: Cluster, node: str) -> int:
    return int(get(cluster, "node", node)["status"]["allocatable"].get("nvidia.com/gpu", "0"))


def test_a_program_that_is_not_in_the_image(cluster: Cluster) -> None:
    cluster.apply(pod("typo", gpus=1, command=("trian.sh",)))
    wait_phase(cluster, "typo", "Failed")
    named(cluster, "pod/typo", "program-missing", "pod/container-failed", "trian.sh")
