"""The Deployment is paused and makes no pods of its newest template.

A paused Deployment keeps what it has and starts no rollout; one that was paused before its first has no ReplicaSet.

Why it matters: an edit that should have mended it is not in force, and nothing says so but one field.
How to tell: `spec.paused` is true.
Fix: resume it.
"""

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.standing import standing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Workload


@rule(codes=("A15",), severity=Severity.ERROR, stages=(Stage.NO_POD,), gpu=False, asks_gpu=None)
def paused(workload: Workload, controllers: tuple[Workload, ...]) -> Failed | None:
    # With ReplicaSets it is they that lack pods, whatever is paused.
    if workload.kind != "Deployment" or not workload.spec.paused or controllers:
        return None
    place = f"deployment/{workload.namespace}/{workload.name}"
    return Failed(
        about=place,
        summary=f"{standing(workload)} and is paused.",
        evidence=(Evidence(object=place, field="spec.paused", value="true"),),
        remedy=(
            Remedy("Resume it", f"kubectl rollout resume -n {workload.namespace} deployment/{workload.name}", Risk.LOW),
        ),
    )
