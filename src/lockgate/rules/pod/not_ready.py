"""The pod runs and is not ready.

Both gates were passed. Its own readiness probe, or a readiness gate, says that it cannot serve yet.

Why it matters: loading a large model takes minutes, so this is often nothing; for hours it is a fault of the program.
How to tell: the pod's phase is Running and its condition Ready is False.
Fix: read the program's log, and the probe's events.
"""

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage, is_ready
from lockgate.diagnosis.ways import log_command
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod


@rule(codes=(), severity=Severity.WARNING, stages=(Stage.RUNNING,), gpu=None, fallback=True, asks_gpu=None)
def not_ready(pod: Pod) -> Failed | None:
    condition = next((c for c in pod.status.conditions if c.type == "Ready"), None)
    if condition is None or is_ready(pod):
        return None
    why = condition.message or condition.reason or "why it is not ready is not told"
    return Failed(
        about=pod_ref(pod),
        summary=f"It passed both gates and runs on {pod.spec.node_name}; {why}.",
        evidence=(
            Evidence(
                object=pod_ref(pod),
                field="status.conditions[Ready]",
                value=condition.status,
                verbatim=condition.message,
            ),
        ),
        remedy=(Remedy("Read its log", log_command(pod.namespace, pod.name), Risk.NONE),),
    )
