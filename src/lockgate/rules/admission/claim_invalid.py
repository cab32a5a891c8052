"""A resource claim in the pod's spec is not complete, so the API server refuses the pod.

Each entry of `spec.resourceClaims` names either a claim or a template. Up to Kubernetes 1.30 the two names stood below
`source`, which newer servers do not know.

Why it matters: manifests of older examples are refused, or (where validation is lenient) lose the claim without a word.
How to tell: the entry of `spec.resourceClaims` has no name beside its own, two names, or a `source`.
Fix: write `resourceClaimName` or `resourceClaimTemplateName` beside `name`, exactly one of them.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.standing import place, standing
from lockgate.diagnosis.views.creation import Creation
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod, PodResourceClaim, PodSpec, Workload

# pkg/apis/core/validation/validation.go; apimachinery's strict decoder for the field of the old API
_NAMES = re.compile(
    r"spec\.resourceClaims\[\d+\](?P<at>\S*?): Invalid value: .*?: "
    r"(?P<why>(?:must specify one of|at most one of)[^\n;]*resourceClaimTemplateName[^\n;]*)"
)
_OLD = re.compile(r'(?P<why>unknown field "(?:spec\.template\.)?spec\.resourceClaims\[\d+\]\.source")')


@rule(
    codes=("A12",),
    severity=Severity.BLOCKER,
    stages=(Stage.NO_POD, Stage.SCHEDULING),
    asks_gpu=None,
    mutes=("claims/claim-missing",),
)
def claim_invalid(creation: Creation, workload: Workload | Missing, pod: Pod | Missing) -> Failed | None:
    said = creation.find(_NAMES, _OLD)
    if said is not None:
        why = f"{standing(creation.maker)}: {said.match['why']}"
        return _failed(place(creation.maker), why, said.evidence)
    spec = _spec(workload, pod)
    wrong = next((c for c in spec.resource_claims if not _is_whole(c)), None)
    if wrong is None:
        return None
    named = "both a claim and a template" if wrong.resource_claim_name else "neither a claim nor a template"
    where = f"spec.resourceClaims[{wrong.name}]"
    about = "pod" if isinstance(pod, Pod) else place(creation.maker)
    return _failed(about, f"{where} names {named}", Evidence(object=about, field=where, value=named))


def _spec(workload: Workload | Missing, pod: Pod | Missing) -> PodSpec:
    if isinstance(pod, Pod):
        return pod.spec
    return workload.spec.template.spec if isinstance(workload, Workload) else PodSpec()


def _is_whole(claim: PodResourceClaim) -> bool:
    if claim.source:  # as Kubernetes up to 1.30 has it
        return True
    return bool(claim.resource_claim_name) != bool(claim.resource_claim_template_name)


def _failed(about: str, why: str, evidence: Evidence) -> Failed:
    return Failed(
        about=about,
        summary=f"{why}.",
        evidence=(evidence,),
        remedy=(
            Remedy(
                "Write exactly one name beside the entry's own: "
                "{name: gpu, resourceClaimTemplateName: TEMPLATE} for a claim of its own, "
                "{name: gpu, resourceClaimName: CLAIM} for a shared one",
                "",
                Risk.LOW,
            ),
        ),
    )
