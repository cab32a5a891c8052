"""Objects for these tests, in as few words as the API allows."""

from typing import Any

import msgspec

from lockgate.model.objects import DaemonSet, Node, PersistentVolume, PersistentVolumeClaim, Pod


def node(name: str = "gpu-1", /, *, labels: dict[str, str] | None = None, **spec: Any) -> Node:
    """A node with room for 110 pods, 8 cores, 32 GiB and 8 GPUs; `allocatable` replaces that."""
    allocatable = spec.pop("allocatable", {"pods": "110", "cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "8"})
    body = {"metadata": {"name": name, "labels": labels or {}}, "spec": spec, "status": {"allocatable": allocatable}}
    return msgspec.convert(body, Node)


def pod(name: str = "p", /, *, requests: dict[str, Any] | None = None, **fields: Any) -> Pod:
    """A pod with one container that asks for `requests`; other fields go to its spec, `status`, `labels` apart."""
    status = fields.pop("status", {})
    metadata = {"name": name, "namespace": fields.pop("namespace", "default"), "labels": fields.pop("labels", {})}
    spec = {"containers": [container(requests or {})], **fields}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, Pod)


def container(requests: dict[str, Any], name: str = "c", **fields: Any) -> dict[str, Any]:
    return {"name": name, "resources": {"requests": requests}, **fields}


def daemonset(**spec: Any) -> DaemonSet:
    """A DaemonSet whose pod template has this spec."""
    return msgspec.convert({"metadata": {"name": "ds"}, "spec": {"template": {"spec": spec}}}, DaemonSet)


def claim(name: str, volume: str = "", storage_class: str = "", namespace: str = "default") -> PersistentVolumeClaim:
    """A claim, bound to a volume when one is named."""
    spec = {"volumeName": volume, "storageClassName": storage_class}
    status = {"phase": "Bound" if volume else "Pending"}
    body = {"metadata": {"name": name, "namespace": namespace}, "spec": spec, "status": status}
    return msgspec.convert(body, PersistentVolumeClaim)


def volume(name: str, labels: dict[str, str] | None = None, hosts: tuple[str, ...] = ()) -> PersistentVolume:
    """A volume that can be reached from these hosts only, or from all."""
    terms = [{"matchExpressions": [{"key": "host", "operator": "In", "values": list(hosts)}]}]
    spec = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if hosts else {}
    return msgspec.convert({"metadata": {"name": name, "labels": labels or {}}, "spec": spec}, PersistentVolume)
