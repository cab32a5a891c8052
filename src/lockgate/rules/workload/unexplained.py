"""The controller cannot make its pods, for a reason that is not explained here.

Its own words are quoted: admission refused the pod, or the controller itself is held up.

Why it matters: an unknown text must not be taken for one of the known faults.
How to tell: the newest event of the workload, or of the controller below it, is quoted.
Fix: read the quoted text: it names the field, the object or the policy that is refused. Once that is put right the
controller tries again by itself.
"""

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import event
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.subject import wanted
from lockgate.kit.counted import counted
from lockgate.model.facts import Events
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Workload


@rule(codes=(), severity=Severity.ERROR, stages=(Stage.NO_POD,), gpu=None, fallback=True, asks_gpu=None)
def unexplained(workload: Workload, controllers: tuple[Workload, ...], workload_events: Events) -> Failed | None:
    if not wanted(workload):
        return None
    failed = [e for e in workload_events if e.type == "Warning"]
    conditions = [
        (owner, c)
        for owner in (workload, *controllers)
        for c in owner.status.conditions
        if c.type == "ReplicaFailure" and c.status == "True"
    ]
    if not failed and not conditions:
        return None
    if failed:
        words, evidence = failed[-1].text, event(failed[-1])
    else:
        owner, condition = conditions[0]
        place = f"{owner.kind.lower()}/{owner.namespace}/{owner.name}"
        words = condition.message
        evidence = Evidence(object=place, field="status.conditions[ReplicaFailure]", verbatim=words)
    kind = workload.kind.lower()
    return Failed(
        about=f"{kind}/{workload.namespace}/{workload.name}",
        summary=f"{workload.kind} {workload.name} wants {counted(wanted(workload), 'pod')}. It says: {words}",
        evidence=(evidence,),
        remedy=(
            Remedy("Look at its events", f"kubectl describe {kind} -n {workload.namespace} {workload.name}", Risk.NONE),
        ),
    )
