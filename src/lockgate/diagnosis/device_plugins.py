"""Which DaemonSets run a GPU device plugin, whoever installed it."""

from lockgate.model.objects import DaemonSet

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
_LABELS = ("app", "name", "k8s-app", "app.kubernetes.io/name")


def is_plugin(daemon_set: DaemonSet) -> bool:
    """Whether a DaemonSet runs a GPU device plugin: by its name, its labels, or what its containers run."""
    if daemon_set.name in _APP_NAMES or any(daemon_set.metadata.labels.get(key) in _APP_NAMES for key in _LABELS):
        return True
    return any(_runs_plugin(c.image, c.command) for c in daemon_set.spec.template.spec.containers)


def _runs_plugin(image: str, command: tuple[str, ...]) -> bool:
    if any(word.endswith(_OTHER_PROGRAMS) for word in command):
        return False
    return "k8s-device-plugin" in image or any(word.endswith(_COMMAND) for word in command)
