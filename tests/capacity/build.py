"""GPU nodes and pods for these tests, with the labels that feature discovery writes."""

from typing import Any

import msgspec

from lockgate.model.objects import Node, Pod, PodDisruptionBudget

GPU = "nvidia.com/gpu"
A100 = "NVIDIA-A100-SXM4-40GB"


def gpu_node(name: str, gpus: int = 8, **fields: Any) -> Node:
    """A node with A100s; `allocatable`, `capacity`, `labels`, `conditions`, `kubelet` and fields of the spec replace
    parts.
    """
    labels = {
        "kubernetes.io/hostname": name,
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": A100,
        "nvidia.com/gpu.count": str(gpus),
        "nvidia.com/gpu.memory": "40960",
        "nvidia.com/gpu.replicas": "1",
    } | fields.pop("labels", {})
    room = {"pods": "110", "cpu": "64", "memory": "512Gi", GPU: str(gpus)}
    capacity = room | fields.pop("capacity", {})
    status = {
        "capacity": capacity,
        "allocatable": capacity | fields.pop("allocatable", {}),
        "conditions": fields.pop("conditions", [{"type": "Ready", "status": "True"}]),
        "nodeInfo": {"kubeletVersion": fields.pop("kubelet", "")},
    }
    return msgspec.convert({"metadata": {"name": name, "labels": labels}, "spec": fields, "status": status}, Node)


def cpu_node(name: str) -> Node:
    """A node without GPUs."""
    status = {"allocatable": {"pods": "110", "cpu": "64", "memory": "512Gi"}}
    return msgspec.convert({"metadata": {"name": name}, "status": status}, Node)


def gpu_pod(name: str, gpus: int = 1, node: str = "", **fields: Any) -> Pod:
    """A pod of a Deployment that asks for GPUs by limit, as people write it; `requests` adds other resources."""
    owner = {"kind": fields.pop("owner", "ReplicaSet"), "name": "owner", "controller": True}
    metadata = {
        "name": name,
        "namespace": fields.pop("namespace", "default"),
        "ownerReferences": [owner] if owner["kind"] else [],
        "annotations": fields.pop("annotations", {}),
        "labels": fields.pop("labels", {}),
    }
    resource = fields.pop("resource", GPU)
    requests = ({resource: gpus} if gpus else {}) | fields.pop("requests", {})
    limits = {name: count for name, count in requests.items() if "/" in name}
    container = {"name": "c", "resources": {"limits": limits, "requests": requests}}
    status = fields.pop("status", {"phase": "Running" if node else "Pending"})
    spec = {"nodeName": node, "containers": [container], **fields}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, Pod)


def budget(name: str, allowed: int, app: str = "x", namespace: str = "default") -> PodDisruptionBudget:
    """A budget for the pods labelled `app`, which lets so many of them go now."""
    spec = {"selector": {"matchLabels": {"app": app}}}
    metadata = {"name": name, "namespace": namespace}
    return msgspec.convert(
        {"metadata": metadata, "spec": spec, "status": {"disruptionsAllowed": allowed}}, PodDisruptionBudget
    )
