"""The node is not ready: its kubelet does not report, or reports a fault.

Nothing new is placed on such a node, and after some minutes its pods are evicted. What it offers is then only what it
last said.

Why it matters: GPUs that are still in `allocatable` cannot be used, and every other sign of the node is out of date.
How to tell: the node's condition Ready is False (the kubelet says why) or Unknown (the kubelet is silent).
Fix: see the kubelet and the runtime on the node; the condition's own words say which of them fails.
"""

from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node


@rule(
    codes=("B04",),
    severity=Severity.ERROR,
    stages=(Stage.NODE,),
    gpu=False,
    asks_gpu=None,
    mutes=(
        "operands/plugin-gone",
        "operands/plugin-idle",
        "operands/plugin-not-targeted",
        "operands/crashes",
        "operands/init-waits",
        "operands/left-out",
        "devices/unhealthy",
        "containerd/handler-missing",
        "containerd/not-configured",
        "containerd/restarting",
        "operator/policy-not-ready",
    ),
)
def not_ready(node: Node) -> Failed | Passed | None:
    ready = next((c for c in node.status.conditions if c.type == "Ready"), None)
    if ready is None:  # a cut file says nothing
        return None
    if ready.status == "True":
        return Passed(f"{node.name} is Ready")
    silent = ready.status == "Unknown"
    return Failed(
        about=f"node/{node.name}",
        summary=f"{node.name}: {'its kubelet has stopped reporting' if silent else 'its kubelet reports a fault'}"
        f" ({ready.reason or 'no reason given'}).",
        evidence=(
            Evidence(
                object=f"node/{node.name}",
                field="status.conditions[Ready]",
                value=ready.status,
                verbatim=ready.message,
                note=ready.reason,
            ),
        ),
        remedy=(
            Remedy(
                f"On {node.name}, see whether kubelet and runtime run, and what they say",
                "systemctl status kubelet containerd; journalctl -u kubelet -n 50",
                Risk.NONE,
            ),
        ),
    )
