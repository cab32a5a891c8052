"""The RuntimeClass that the pods name does not exist.

The API server refuses every pod whose `runtimeClassName` names no RuntimeClass object.

Why it matters: no pod exists, so nothing shows but the controller's events. It is another fault than a handler that
the node lacks: there the object exists.
How to tell: the event says `RuntimeClass ... not found`; where the object exists, it is the node's runtime that lacks
it.
Fix: install the operator that makes the class, or drop `runtimeClassName`; GPUs reach pods by CDI without one.
"""

import re

from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import listed, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.creation import Creation
from lockgate.model.facts import Missing, RuntimeClasses
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Workload

_TEXT = re.compile(r'RuntimeClass "(?P<name>[^"]+)" not found')


@rule(codes=("A03",), severity=Severity.BLOCKER, stages=(Stage.NO_POD,), asks_gpu=None)
def runtime_class_missing(
    workload: Workload, creation: Creation, runtime_classes: RuntimeClasses | Missing
) -> Failed | Passed | None:
    named = workload.spec.template.spec.runtime_class_name or ""
    said = creation.find(_TEXT)
    known = None if isinstance(runtime_classes, Missing) else [c.name for c in runtime_classes]
    if said is None and (not named or known is None):
        return None
    name = said.match["name"] if said else named
    if known is not None and name in known:
        return Passed(f"RuntimeClass {name} exists")
    return Failed(
        about=f"runtimeclass/{name}",
        summary=f"{workload.kind} {workload.name} names RuntimeClass {name}{_there_is(known)}.",
        evidence=(
            Evidence(
                object=f"{workload.kind.lower()}/{workload.namespace}/{workload.name}",
                field="spec.template.spec.runtimeClassName",
                value=named,
            ),
            *some(said.evidence if said else None),
        ),
        remedy=(
            Remedy("See which classes exist; the GPU operator makes nvidia", "kubectl get runtimeclass", Risk.NONE),
            Remedy("Or drop runtimeClassName from the pod template: GPUs reach pods by CDI without one", "", Risk.LOW),
        ),
    )


def _there_is(known: list[str] | None) -> str:
    return "" if known is None else f"; there is {listed(known) or 'none'}"
