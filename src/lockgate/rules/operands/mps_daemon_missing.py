"""The device plugin waits for the MPS control daemon.

GPUs that are shared by MPS need a control daemon on the node, in a DaemonSet of its own. The plugin registers nothing
until the daemon answers.

Why it matters: the node offers no GPU at all.
How to tell: `error checking MPS daemon health` in the plugin's log; the daemon's DaemonSet wants only nodes with the
label `nvidia.com/mps.capable=true`, which GPU feature discovery sets.
Fix: see that feature discovery runs and the daemon with it; a plugin from a static manifest needs both beside it and
`--mps-root`.
"""

import re

from lockgate.diagnosis.followers import AFTER_PLUGIN
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs, with_more
from lockgate.diagnosis.stage import is_ready
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Evidence, Remedy, Risk, Severity

# k8s-device-plugin 0.17.4 internal/plugin/{server,mps}.go, cmd/nvidia-device-plugin/main.go (#634, #762, #712, #1132).
_TEXTS = (
    re.compile(r"error (?:waiting for MPS daemon|checking MPS daemon health)"),
    re.compile(r"using MPS requires --mps-root to be specified"),
)
_LABEL = "nvidia.com/mps.capable"


@rule(codes=("I17",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=AFTER_PLUGIN)
def mps_daemon_missing(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        _find,
        lambda on, told: f"the device plugin waits for the MPS control daemon; {_daemon(on)}.",
        _remedies,
        softer=Severity.ERROR,
    )


def _find(on: NodeStack) -> Told | None:
    label = on.node.metadata.labels.get(_LABEL, "absent") if on.node else ""
    has = Evidence(object=f"node/{on.name}", field=f"metadata.labels[{_LABEL}]", value=label) if label else None
    return with_more(on.said(*_TEXTS, of=("device-plugin",)), has)


def _daemon(on: NodeStack) -> str:
    pod = on.pod_of("mps-control-daemon")
    if pod is None:
        return "no pod of it is on the node"
    return f"its pod {pod.name} is {'ready' if is_ready(pod) else 'not ready'}"


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(
            "See the daemon's DaemonSet and the label that it wants",
            f"kubectl get ds -A | grep mps; kubectl get node {on.name} -L {_LABEL}",
            Risk.NONE,
        ),
        *read_logs(told),
    )
