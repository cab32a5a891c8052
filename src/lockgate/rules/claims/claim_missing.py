"""A resource claim of the pod does not exist.

The pod names a ResourceClaim that is not there, or a ResourceClaimTemplate from which no claim could be made.

Why it matters: the scheduler sets such a pod aside before it looks at any node. It writes neither a condition nor an
event about it, so the pod waits without a word.
How to tell: the claim's name is not among the claims of the namespace; for a template there is an event
FailedResourceClaimCreation.
Fix: create the claim or the template in the pod's namespace, or correct the name in `spec.resourceClaims`.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import event, pod_ref, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.claims import Claims, PodClaim
from lockgate.model.facts import Events, Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Event, Pod

# pkg/controller/resourceclaim: event FailedResourceClaimCreation, seen on a real 1.37.2
_TEXT = re.compile(r"PodResourceClaim (?P<entry>[^:]+): (?P<why>.+)", re.DOTALL)


@rule(codes=("C18",), severity=Severity.BLOCKER, stages=(Stage.SCHEDULING,), asks_gpu=None)
def claim_missing(pod: Pod, claims: Claims, pod_events: Events | Missing) -> Failed | None:
    lacking = next((c for c in claims.wanted if c.claim is None and (c.name or c.template)), None)
    if lacking is None:
        return None
    said = _said(pod_events)
    if said is None and not (claims.known and lacking.name):
        return None  # its claim is not known, or is about to be made
    return _failed(pod, lacking, said)


def _said(events: Events | Missing) -> Event | None:
    known = () if isinstance(events, Missing) else events
    return next((e for e in reversed(known) if e.reason == "FailedResourceClaimCreation"), None)


def _failed(pod: Pod, lacking: PodClaim, said: Event | None) -> Failed:
    kind, name = ("resourceclaim", lacking.name) if lacking.name else ("resourceclaimtemplate", lacking.template)
    match = _TEXT.search(said.text) if said else None
    why = match["why"] if match else f"{kind} {name} does not exist in namespace {pod.namespace}"
    return Failed(
        about=f"{kind}/{pod.namespace}/{name}",
        summary=f"Claim {lacking.entry} of the pod: {why}.",
        evidence=(
            Evidence(object=pod_ref(pod), field=f"spec.resourceClaims[{lacking.entry}]", value=name),
            *some(event(said) if said else None),
        ),
        remedy=(
            Remedy(
                f"Create {kind} {name}, or name one of those that there are",
                f"kubectl get resourceclaims,resourceclaimtemplates -n {pod.namespace}",
                Risk.NONE,
            ),
        ),
    )
