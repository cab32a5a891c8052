"""The workload is scaled to 0 or suspended.

Somebody, or a controller that queues work, chose that it has no pods. So it is no fault, and the exit code is 0.

Why it matters: people wait for a pod that nobody asks for; no node, GPU or quota has to do with it.
How to tell: `spec.replicas` is 0, or `spec.suspend` is true. A Job that Kueue holds back is suspended too: that is told
as Kueue's doing.
Fix: scale it up, or resume it.
"""

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.subject import wanted
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Workload


@rule(codes=("A15",), severity=Severity.INFO, stages=(Stage.NO_POD,), gpu=False, asks_gpu=None)
def asks_for_none(workload: Workload) -> Failed | None:
    if wanted(workload) or workload.kind == "DaemonSet":
        return None
    field, value, command = _reason(workload)
    how = "suspended" if workload.spec.suspend else "scaled to 0"
    place = f"{workload.kind.lower()}/{workload.namespace}/{workload.name}"
    ended = [c for c in workload.status.conditions if c.type in ("Complete", "Failed") and c.status == "True"]
    if ended:
        return None
    return Failed(
        about=place,
        title=f"The {workload.kind} is {how}",
        summary=f"{workload.kind} {workload.name}: {field} is {value}.",
        evidence=(Evidence(object=place, field=field, value=value),),
        remedy=(Remedy("If it is meant to run", command, Risk.LOW),),
    )


def _reason(workload: Workload) -> tuple[str, str, str]:
    place = f"-n {workload.namespace} {workload.kind.lower()}/{workload.name}"
    if workload.spec.suspend:
        patch = '\'{"spec":{"suspend":false}}\''
        return "spec.suspend", "true", f"kubectl patch {place} -p {patch}"
    return "spec.replicas", "0", f"kubectl scale {place} --replicas=1"
