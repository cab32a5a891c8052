"""A policy of the cluster refuses the pods.

An admission webhook (Gatekeeper, Kyverno, a queueing system's own) or a ValidatingAdmissionPolicy says no, in its own
words.

Why it matters: no pod exists, and the words are only in the controller's events. It is a rule that somebody wrote, no
fault of GPUs.
How to tell: the event says `denied the request`, and names the webhook or the policy.
Fix: change what the words name in the pod template, or ask the policy's owner for an exception.
"""

import re

from lockgate.diagnosis.followers import WITHOUT_PODS
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.standing import place, standing
from lockgate.diagnosis.views.creation import Creation
from lockgate.model.finding import Remedy, Risk, Severity

# apiserver: webhook/errors/statuserror.go, plugin/policy/validating/dispatcher.go
_WEBHOOK = re.compile(
    r'admission webhook "(?P<name>[^"]+)" denied the request(?: without explanation)?(?:: (?P<why>.+))?', re.DOTALL
)
_POLICY = re.compile(
    r"ValidatingAdmissionPolicy '(?P<name>[^']+)' with binding '[^']+' denied request: (?P<why>.+)", re.DOTALL
)


@rule(
    codes=("A08",),
    severity=Severity.BLOCKER,
    stages=(Stage.NO_POD, Stage.OPERAND),
    gpu=False,
    asks_gpu=None,
    mutes=WITHOUT_PODS,
)
def webhook_denied(creation: Creation) -> Failed | None:
    said = creation.find(_WEBHOOK, _POLICY)
    if said is None:
        return None
    name, why = said.match["name"], (said.match["why"] or "it does not say why").strip()
    webhook = said.match.re is _WEBHOOK
    kind = "webhook" if webhook else "ValidatingAdmissionPolicy"
    plural = (
        "validatingwebhookconfigurations,mutatingwebhookconfigurations"
        if webhook
        else f"validatingadmissionpolicy {name}"
    )
    return Failed(
        about=place(creation.maker),
        summary=f"{standing(creation.maker)}: {kind} {name} denies them: {why}",
        evidence=(said.evidence,),
        remedy=(
            Remedy("Change in the pod template what it names, or ask its owner for an exception", "", Risk.LOW),
            Remedy("See the policy", f"kubectl get {plural} -o yaml", Risk.NONE),
        ),
    )
