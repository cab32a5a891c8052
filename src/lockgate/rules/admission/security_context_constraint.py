"""No SecurityContextConstraint of OpenShift admits the pods.

OpenShift compares a pod with every constraint that its service account may use; when none fits, it is refused, with a
reason from each of them.

Why it matters: operands need `privileged`; an operator that was installed into another namespace, or whose service
accounts lost their binding, gets no pod.
How to tell: the event says `unable to validate against any security context constraint` and lists each of them.
Fix: let the service account use the constraint that the pods need; a GPU workload needs none beyond `restricted-v2`.
"""

import re

from lockgate.diagnosis.followers import WITHOUT_PODS
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.standing import place, standing
from lockgate.diagnosis.views.creation import Creation
from lockgate.model.finding import Remedy, Risk, Severity

_TEXT = re.compile(r"unable to validate against any security context constraint: (?P<why>.+)", re.DOTALL)


@rule(
    codes=("A10",),
    severity=Severity.BLOCKER,
    stages=(Stage.NO_POD, Stage.OPERAND),
    asks_gpu=None,
    mutes=WITHOUT_PODS,
)
def security_context_constraint(creation: Creation) -> Failed | None:
    said = creation.find(_TEXT)
    if said is None or creation.maker is None:
        return None
    account = creation.maker.spec.template.spec.service_account_name or "default"
    return Failed(
        about=place(creation.maker),
        summary=(
            f"{standing(creation.maker)}: no constraint that service account {account} may use admits them: "
            f"{said.match['why']}"
        ),
        evidence=(said.evidence,),
        remedy=(
            Remedy(
                "If the pods are operands, let their service account use the constraint privileged",
                f"oc adm policy add-scc-to-user privileged -z {account} -n {creation.namespace}",
                Risk.MEDIUM,
            ),
            Remedy("Otherwise take what is named out of the pod template", "", Risk.LOW),
        ),
    )
