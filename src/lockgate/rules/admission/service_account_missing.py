"""The service account that the pods name does not exist.

The API server refuses a pod whose `serviceAccountName` names nothing in its namespace.

Why it matters: it is no GPU fault, and looks like one: the controller has no pod, and only its events say why. A chart
that was removed in part, or a namespace made by hand, is what is usually behind it.
How to tell: the event says `error looking up service account`.
Fix: create the service account, or name one that exists.
"""

import re

from lockgate.diagnosis.followers import WITHOUT_PODS
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.standing import place, standing
from lockgate.diagnosis.views.creation import Creation
from lockgate.model.finding import Remedy, Risk, Severity

# plugin/pkg/admission/serviceaccount; seen on a real 1.37.2
_TEXT = re.compile(r"error looking up service account (?P<namespace>[^/\s]+)/(?P<name>[^:\s]+): .*not found")


@rule(
    codes=(),
    severity=Severity.BLOCKER,
    stages=(Stage.NO_POD, Stage.OPERAND),
    gpu=False,
    asks_gpu=None,
    mutes=WITHOUT_PODS,
)
def service_account_missing(creation: Creation) -> Failed | None:
    said = creation.find(_TEXT)
    if said is None:
        return None
    namespace, name = said.match["namespace"], said.match["name"]
    return Failed(
        about=place(creation.maker),
        summary=f"{standing(creation.maker)}: service account {name} does not exist in namespace {namespace}.",
        evidence=(said.evidence,),
        remedy=(
            Remedy("Create it", f"kubectl create serviceaccount -n {namespace} {name}", Risk.LOW),
            Remedy("Or name one that exists", f"kubectl get serviceaccounts -n {namespace}", Risk.NONE),
        ),
    )
