"""The amount of GPUs in the spec is not one that the API server takes.

GPUs are whole numbers, and cannot be overcommitted: a request needs a limit, and the two are equal. Half a GPU does not
exist for Kubernetes.

Why it matters: no pod is made. Where a controller of a custom kind makes the pods, or a webhook edits them, the words
are only in its events.
How to tell: the API server's words name the field; in a file, request and limit of the GPU are compared.
Fix: set `limits` alone to a whole number; the request follows by itself. For less than a GPU ask for a MIG device or a
slot of a shared GPU by its own name.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.standing import place, standing
from lockgate.diagnosis.views.creation import Creation
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod, PodSpec, Workload
from lockgate.scheduling.amounts import MEANING, AmountFault, refused_amounts

# A quantity as the API server prints it: quoted in new releases, as Go prints its struct in old ones (apimachinery 0.31
# and before), where `s` may be empty: what its person wrote is then value and scale.
_QUANTITY = r"resource\.Quantity\{i:resource\.int64Amount\{value:(?P<digits>-?\d+), scale:(?P<scale>-?\d+)\}"
_PRINTED = re.compile(rf'{_QUANTITY}(?:[^{{}}]|\{{[^}}]*\}})*?(?:s:\\?"(?P<text>[^"\\]*)[^}}]*)?\}}')
# pkg/apis/core/validation/validation.go, by the catalogue's code.
_TEXTS = (
    (
        "A06",
        re.compile(
            r"resources\.\w+\[[^\]]*nvidia\.com/[^\]]+\]: Invalid value: "
            r"(?:[^\s{]+|resource\.Quantity\{(?:[^{}]|\{[^}]*\})*\}): must be an integer"
        ),
    ),
    ("A05", re.compile(r"Invalid value: \S+: must be equal to \S*nvidia\.com/\S+ limit of \S+")),
    ("A04", re.compile(r"resources\.limits\S*: Required value: Limit must be set for non overcommitable resources")),
)


@rule(
    codes=("A04", "A05", "A06"),
    severity=Severity.BLOCKER,
    stages=(Stage.NO_POD, Stage.SCHEDULING),
    asks_gpu=None,
    mutes=(
        "scheduling/all-held",
        "scheduling/fragmented",
        "scheduling/wrong-name",
        "scheduling/unexplained",
        "pod/no-gpu-asked",
    ),
)
def amount_invalid(creation: Creation, workload: Workload | Missing, pod: Pod | Missing) -> Failed | None:
    for code, pattern in _TEXTS:
        if said := creation.find(pattern):
            why = f"{standing(creation.maker)}: {MEANING[AmountFault(code)]} ({_as_written(said.match[0])})"
            return _failed(place(creation.maker), code, why, said.evidence)
    about, spec = _spec(workload, pod, creation)
    code, evidence = next(_wrong(about, spec), ("", None))
    return _failed(about, code, f"{MEANING[AmountFault(code)]}: {evidence.note}", evidence) if evidence else None


def _as_written(text: str) -> str:
    """The API server's words with each quantity as a person writes it."""
    return _PRINTED.sub(lambda found: f'"{found["text"] or _amount(found)}"', text)


def _amount(found: re.Match[str]) -> str:
    return f"{Decimal(found['digits']).scaleb(int(found['scale'])):f}"


def _spec(workload: Workload | Missing, pod: Pod | Missing, creation: Creation) -> tuple[str, PodSpec]:
    if isinstance(pod, Pod):
        return f"pod/{pod.namespace}/{pod.name}", pod.spec
    template = workload.spec.template.spec if isinstance(workload, Workload) else PodSpec()
    return place(creation.maker), template


def _wrong(about: str, spec: PodSpec) -> Iterator[tuple[str, Evidence]]:
    """What no API server admits: only a file, or a spec before its admission, can show it."""
    for container in (*spec.init_containers, *spec.containers):
        for each in refused_amounts(container):
            if names.is_gpu_resource(each.resource):
                field = f"spec.containers[{container.name}].resources"
                yield each.fault, Evidence(object=about, field=field, value=each.resource, note=each.note)


def _failed(about: str, code: str, why: str, evidence: Evidence) -> Failed:
    return Failed(
        about=about,
        codes=(code,),
        summary=f"{why[:1].upper()}{why[1:]}.",
        evidence=(evidence,),
        remedy=(
            Remedy(f"Write only the limit, as a whole number: resources: {{limits: {{{names.GPU}: 1}}}}", "", Risk.LOW),
            Remedy(
                "For a part of a GPU ask for what the nodes offer under another name",
                "kubectl get nodes -o custom-columns=N:.metadata.name,OFFERS:.status.allocatable",
                Risk.NONE,
            ),
        ),
    )
