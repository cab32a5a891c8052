"""A rendered DaemonSet in the shape of `tests/truth/operands`: lists by name, only what a user could depend on."""

from typing import Any

Shape = dict[str, Any]


def shape(daemonset: Shape) -> Shape:
    """The comparable parts of a DaemonSet."""
    spec = daemonset["spec"]
    template = spec["template"]
    pod = template["spec"]
    return {
        "labels": daemonset["metadata"]["labels"],
        "selector": spec["selector"]["matchLabels"],
        "pod_labels": template["metadata"]["labels"],
        "update": spec["updateStrategy"],
        "nodeSelector": pod["nodeSelector"],
        "tolerations": pod["tolerations"],
        "priorityClassName": pod["priorityClassName"],
        "serviceAccountName": pod["serviceAccountName"],
        "runtimeClassName": pod.get("runtimeClassName"),
        "hostPID": pod.get("hostPID", False),
        "init": {c["name"]: container_shape(c) for c in pod["initContainers"]},
        "containers": {c["name"]: container_shape(c) for c in pod["containers"]},
        "volumes": {v["name"]: v.get("hostPath", {}).get("path", "") for v in pod["volumes"]},
    }


def container_shape(container: Shape) -> Shape:
    return {
        "env": {entry["name"]: value_of(entry) for entry in container.get("env", [])},
        "mounts": {mount_key(m): m.get("mountPropagation") for m in container["volumeMounts"]},
        "privileged": container["securityContext"].get("privileged"),
        "image": container["image"],
    }


def mount_key(mount: Shape) -> str:
    return f"{mount['mountPath']}:{mount['subPath']}" if "subPath" in mount else mount["mountPath"]


def value_of(entry: Shape) -> str:
    if "value" in entry:
        return str(entry["value"])
    return f"<{entry['valueFrom']['fieldRef']['fieldPath']}>"


def truth_shape(recorded: Shape) -> Shape:
    """A DaemonSet of `default.json` in the same shape."""
    return {
        **{key: recorded[key] for key in ("labels", "selector", "pod_labels", "update", "nodeSelector", "tolerations")},
        **{key: recorded[key] for key in ("priorityClassName", "serviceAccountName")},
        "runtimeClassName": recorded.get("runtimeClassName"),
        "hostPID": recorded.get("hostPID", False),
        "init": {c["name"]: _truth_container(c) for c in recorded["init"]},
        "containers": {c["name"]: _truth_container(c) for c in recorded["containers"]},
        "volumes": {name: v.get("hostPath", {}).get("path", "") for name, v in recorded["volumes"].items()},
    }


def _truth_container(recorded: Shape) -> Shape:
    return {
        "env": {name: _truth_value(value) for name, value in recorded.get("env", {}).items()},
        "mounts": {path: mount.get("mountPropagation") for path, mount in recorded["mounts"].items()},
        "privileged": recorded["securityContext"].get("privileged"),
        "image": recorded["image"],
    }


def _truth_value(value: Any) -> str:
    if isinstance(value, dict):
        return f"<{value['fieldRef']['fieldPath']}>"
    return value or ""
