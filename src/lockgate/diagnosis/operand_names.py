"""Which DaemonSets are operands, and by which short name a person asks for them: `operand/device-plugin`.

The names are NVIDIA's (gpu-operator 26.7, assets/), which Lockgate's own operands carry too.
"""

import difflib
from typing import Final

from lockgate.diagnosis.device_plugins import is_plugin
from lockgate.model.facts import DaemonSets
from lockgate.model.objects import DaemonSet, Labels, Pod

# Short name -> the DaemonSet's `app` label, in the order in which they wait for each other.
APPS: Final[dict[str, str]] = {
    "driver": "nvidia-driver-daemonset",
    "container-toolkit": "nvidia-container-toolkit-daemonset",
    "operator-validator": "nvidia-operator-validator",
    "device-plugin": "nvidia-device-plugin-daemonset",
    "gpu-feature-discovery": "gpu-feature-discovery",
    "dcgm": "nvidia-dcgm",
    "dcgm-exporter": "nvidia-dcgm-exporter",
    "mig-manager": "nvidia-mig-manager",
    "node-status-exporter": "nvidia-node-status-exporter",
    "mps-control-daemon": "nvidia-device-plugin-mps-control-daemon",
    "discovery": "lockgate-discovery",
}
# Pods that the validator makes for one step, owned by the policy: their `app` label -> their short name.
VALIDATIONS: Final = {
    "nvidia-cuda-validator": "cuda-validator",
    "nvidia-device-plugin-validator": "plugin-validator",
}
# What must be well before a pod can have a GPU; the others describe and measure.
PATH: Final = ("driver", "container-toolkit", "operator-validator", "cuda-validator", "device-plugin")
# Drivers that a NVIDIADriver object asks for, and those for one kernel, are told by their component or their name.
_DRIVERS: Final = ("nvidia-driver", "nvidia-vgpu-host-manager")
_ALIASES: Final = {
    "toolkit": "container-toolkit",
    "plugin": "device-plugin",
    "validator": "operator-validator",
    "gfd": "gpu-feature-discovery",
    "feature-discovery": "gpu-feature-discovery",
    "exporter": "dcgm-exporter",
    "mig": "mig-manager",
    "mps": "mps-control-daemon",
}
# Who owns the DaemonSets of an operator.
_OWNERS: Final = ("ClusterPolicy", "NVIDIADriver")
_SHORT: Final = {app: short for short, app in APPS.items()}


def short_name(found: DaemonSet | Pod) -> str:
    """The operand that a DaemonSet or one of its pods belongs to; "" for anything else."""
    labels = found.metadata.labels
    component = labels.get("app.kubernetes.io/component", "")
    app = labels.get("app") or component
    if app in _SHORT or found.name in _SHORT:
        return _SHORT.get(app) or _SHORT[found.name]
    if component in _DRIVERS or app.startswith(APPS["driver"]):
        return "driver"
    if any(owner.kind in _OWNERS for owner in found.metadata.owner_references):
        return found.name.removeprefix("nvidia-").removesuffix("-daemonset")
    # A plugin counts whoever installed it: a static manifest, a chart, a cloud.
    return "device-plugin" if isinstance(found, DaemonSet) and is_plugin(found) else ""


def validation(labels: Labels) -> str:
    """The step that the validator made a pod with these labels for, "" for any other pod."""
    return VALIDATIONS.get(labels.get("app", ""), "")


def matching(asked: str, daemon_sets: DaemonSets) -> DaemonSets:
    """The DaemonSets of the operand that is asked for, by short name, alias, or the DaemonSet's own name."""
    name = _ALIASES.get(asked, asked)
    return tuple(ds for ds in daemon_sets if name in (short_name(ds), ds.name))


def suggestions(asked: str, daemon_sets: DaemonSets) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which operands there are, and which of them come near what was typed."""
    there = tuple(sorted({name for ds in daemon_sets if (name := short_name(ds))}))
    near = difflib.get_close_matches(asked, (*there, *APPS, *_ALIASES), n=2)
    return there, tuple(near)
