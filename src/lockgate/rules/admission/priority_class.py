"""The pods' PriorityClass is refused: it does not exist, or the namespace may not use it.

A cluster can reserve classes, as GKE does with `system-node-critical` and `system-cluster-critical`: pods of them are
made only in namespaces with a ResourceQuota whose scope names the class. NVIDIA's operator gives its operands such a
class.

Why it matters: the operator installs without an error and its DaemonSets never get a pod.
How to tell: the event says `insufficient quota to match these scopes` or `no PriorityClass with name`.
Fix: create the PriorityClass, or a ResourceQuota in the namespace with `scopeSelector` for the class.
"""

import re

from lockgate.diagnosis.followers import WITHOUT_PODS
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import listed
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.standing import place, standing
from lockgate.diagnosis.views.creation import Creation
from lockgate.model.facts import Missing, PriorityClasses
from lockgate.model.finding import Remedy, Risk, Severity

# apiserver resourcequota/controller.go; plugin/pkg/admission/priority
_SCOPE = re.compile(r"insufficient quota to match these scopes: \[\{PriorityClass In \[(?P<names>[^\]]+)\]\}\]")
_ABSENT = re.compile(r"no PriorityClass with name (?P<names>\S+) was found")


@rule(
    codes=("A09",),
    severity=Severity.BLOCKER,
    stages=(Stage.NO_POD, Stage.OPERAND),
    asks_gpu=None,
    mutes=WITHOUT_PODS,
)
def priority_class(creation: Creation, priority_classes: PriorityClasses | Missing) -> Failed | None:
    said = creation.find(_SCOPE, _ABSENT)
    if said is None:
        return None
    names, reserved = said.match["names"], said.match.re is _SCOPE
    why = (
        f"only namespaces with a ResourceQuota for PriorityClass {names} may have such pods, and "
        f"{creation.namespace} has none"
        if reserved
        else f"PriorityClass {names} does not exist{_there_is(priority_classes)}"
    )
    return Failed(
        about=place(creation.maker),
        summary=f"{standing(creation.maker)}: {why}.",
        evidence=(said.evidence,),
        remedy=(_allow(creation.namespace, names) if reserved else _create(),),
    )


def _there_is(known: PriorityClasses | Missing) -> str:
    return "" if isinstance(known, Missing) else f"; there is {listed(c.name for c in known) or 'none'}"


def _allow(namespace: str, names: str) -> Remedy:
    return Remedy(
        f"Allow such pods there: a ResourceQuota in {namespace} with hard pods: 100 and a scopeSelector "
        f"PriorityClass In [{', '.join(names.split())}]",
        f"kubectl get resourcequota -n {namespace} -o yaml",
        Risk.MEDIUM,
    )


def _create() -> Remedy:
    return Remedy("See which classes exist; create it, or name one of them", "kubectl get priorityclasses", Risk.NONE)
