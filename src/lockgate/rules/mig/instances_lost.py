"""MIG is on, and the GPU has no MIG devices.

The mode survives a reboot, the instances do not. Until they are made again such a GPU can run nothing at all.

Why it matters: the plugin ends with an error, or leaves the GPU out; pods that ask for its MIG devices wait.
How to tell: `has no MIG devices configured` in the plugin's log, while `nvidia.com/mig.config.state` says success.
Fix: let the MIG manager apply the layout anew by setting its label again, or switch MIG off.
"""

import re

from lockgate.diagnosis.followers import AFTER_PLUGIN
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs, with_more
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model import names
from lockgate.model.finding import Evidence, Remedy, Risk, Severity

# k8s-device-plugin 0.17.4 internal/rm/device_map.go (k8s-device-plugin#225).
_TEXT = re.compile(r"device (?P<index>\S+) has no MIG devices configured")
# nvidia-smi prints its table of MIG devices only where MIG is on (NVIDIA's MIG user guide).
_NONE = re.compile(r"No MIG devices found")


@rule(
    codes=("I13",),
    severity=Severity.BLOCKER,
    stages=STAGES,
    asks_gpu=None,
    mutes=("devices/mig-layout-invalid", *AFTER_PLUGIN),
)
def instances_lost(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: with_more(on.said(_TEXT, of=("device-plugin", "gpu-feature-discovery")) or _listed(on), _state(on)),
        lambda on, told: f"MIG is on{_where(told)}, and no MIG device is there.",
        _remedies,
        softer=Severity.ERROR,
    )


def _listed(on: NodeStack) -> Told | None:
    """What nvidia-smi said on a node that has nothing to offer."""
    return None if on.advertises else on.printed(("nvidia-smi",), _NONE)


def _where(told: Told) -> str:
    index = told.match.groupdict().get("index")
    return f" at GPU {index}" if index else ""


def _state(on: NodeStack) -> Evidence | None:
    labels = on.node.metadata.labels if on.node else {}
    if names.MIG_CONFIG not in labels:
        return None
    value = f"{labels[names.MIG_CONFIG]} ({labels.get(names.MIG_CONFIG_STATE, 'no state')})"
    return Evidence(object=f"node/{on.name}", field=f"metadata.labels[{names.MIG_CONFIG}]", value=value)


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    wanted = on.node.metadata.labels.get(names.MIG_CONFIG, "all-disabled") if on.node else "all-disabled"
    label = f"kubectl label node {on.name} {names.MIG_CONFIG}"
    return (
        Remedy(f"On {on.name}, see the GPUs and their MIG devices", "nvidia-smi -L", Risk.NONE),
        Remedy("Ask for the layout anew", f"{label}-; {label}={wanted}", Risk.HIGH),
        *read_logs(told),
    )
