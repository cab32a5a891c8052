"""Manifests of what tests put on the cluster, as JSON (which is YAML): pods that ask for GPUs, quotas, workloads."""

import json
from collections.abc import Mapping, Sequence

from tests.cluster.images import TEST

SLEEP = ("sleep", "infinity")


def pod(
    name: str,
    *,
    gpus: int = 0,
    command: Sequence[str] = SLEEP,
    image: str = TEST,
    namespace: str = "default",
    resources: Mapping[str, str] | None = None,
    on: str = "",
    pinned_to: str = "",
    **spec: object,
) -> str:
    """A pod. `gpus` is its limit of nvidia.com/gpu, `resources` further limits; `on` selects a node by its hostname
    label, `pinned_to` names it in spec.nodeName (the scheduler is passed over); `spec` is laid over the pod's spec."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace},
            "spec": pod_spec(gpus, command, image, resources or {}, on, pinned_to) | spec,
        }
    )


def pod_spec(
    gpus: int, command: Sequence[str], image: str, resources: Mapping[str, str], on: str, pinned_to: str
) -> dict[str, object]:
    """The spec of such a pod: one container, no restarts."""
    limits = ({"nvidia.com/gpu": str(gpus)} if gpus else {}) | dict(resources)
    container = {
        "name": "main",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": list(command),
        "resources": {"limits": limits},
    }
    spec: dict[str, object] = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "containers": [container],
    }
    if on:
        spec["nodeSelector"] = {"kubernetes.io/hostname": on}
    if pinned_to:
        spec["nodeName"] = pinned_to
    return spec


def deployment(name: str, *, replicas: int, gpus: int, namespace: str) -> str:
    """A Deployment of pods that ask for GPUs."""
    labels = {"app": name}
    spec = pod_spec(gpus, SLEEP, TEST, {}, "", "") | {"restartPolicy": "Always"}
    return json.dumps(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        }
    )


def quota(name: str, *, gpus: int, namespace: str) -> str:
    """A ResourceQuota on GPUs, as it must be written: extended resources know only the `requests.` form."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"hard": {"requests.nvidia.com/gpu": str(gpus)}},
        }
    )
