"""Which DaemonSets run a GPU device plugin, whoever installed it; which pod of a described node is one's."""

import re
from typing import Final

from lockgate.kit.started import programs
from lockgate.kit.untyped import mapping_at
from lockgate.model.objects import ClusterPolicy, Container, DaemonSet, Node
from lockgate.model.told import ToldNode

# What tells a device plugin from other workloads: NVIDIA's operator, its static manifests and chart, and ours; GKE's.
_APP_NAMES = (
    "nvidia-device-plugin-daemonset",
    "nvidia-device-plugin-ds",
    "nvidia-device-plugin",
    "nvidia-gpu-device-plugin",
)
_COMMAND = "nvidia-device-plugin"
# Programs that come in the plugin's own image and offer no device.
_OTHER_PROGRAMS = ("gpu-feature-discovery", "mps-control-daemon", "config-manager")
# The pods of all of these by name; GKE has them per kind of disk and node (nvidia-gpu-device-plugin-small-cos).
_POD_NAME: Final = re.compile(r"nvidia-(?:gpu-)?device-plugin(?:-[a-z0-9]+)*$")
_LABELS = ("app", "name", "k8s-app", "app.kubernetes.io/name")


def is_plugin(daemon_set: DaemonSet) -> bool:
    """Whether a DaemonSet runs a GPU device plugin: by its name, its labels, or what its containers run."""
    labels = [daemon_set.metadata.labels.get(key, "") for key in _LABELS]
    if any(name.endswith(_OTHER_PROGRAMS) for name in (daemon_set.name, *labels)):
        return False
    if daemon_set.name in _APP_NAMES or any(label in _APP_NAMES for label in labels):
        return True
    return any(map(_runs_plugin, daemon_set.spec.template.spec.containers))


def _runs_plugin(container: Container) -> bool:
    started = programs((*container.command, *container.args)) if container.command else ()
    if any(name.endswith(_OTHER_PROGRAMS) for name in (container.name, *started)):
        return False
    return "k8s-device-plugin" in container.image or _COMMAND in started


def switches_off(policy: ClusterPolicy) -> bool:
    """Whether a policy says that the operator is to run no device plugin."""
    return mapping_at(policy.spec, "devicePlugin").get("enabled") is False


def named_plugin(node: Node | None) -> str:
    """The plugin's pod (namespace/name) that the description of a node names there; "" where none is shown."""
    named = node.pods if isinstance(node, ToldNode) else ()
    return next((pod for pod in named if _POD_NAME.search(pod) and not any(p in pod for p in _OTHER_PROGRAMS)), "")
