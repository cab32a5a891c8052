"""A LimitRange of the namespace refuses the pods.

It bounds what one container or one pod may ask for. A `max` for containers is also what a container gets that names no
amount: `max: {nvidia.com/gpu: 1}` gives one GPU to every container of the namespace that asks for none.

Why it matters: the namespace may have GPUs left in its quota, and one pod still may not ask for that many.
How to tell: the event says `maximum ... usage per Container|Pod is`; the LimitRange that holds that bound is shown.
Fix: ask for less in one container or pod, or have the LimitRange raised.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.standing import place, standing
from lockgate.diagnosis.views.creation import Creation
from lockgate.model.facts import LimitRanges, Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity

# plugin/pkg/admission/limitranger/admission.go; several of them come as a list in brackets.
_TEXT = re.compile(
    r"(?P<bound>maximum|minimum) (?P<resource>\S+) usage per (?P<type>\w+) is (?P<limit>[^\s,]+?)"
    r"(?:, but (?P<what>limit|request) is (?P<asked>[^\s,\]]+)|\.  No (?:limit|request) is specified)"
    r"|(?<!\S)(?P<ratio>\S+) max limit to request ratio per \w+ is \S+, but [^,\]]+"
)


@rule(codes=("A11",), severity=Severity.BLOCKER, stages=(Stage.NO_POD,), asks_gpu=None)
def limit_range(creation: Creation, limit_ranges: LimitRanges | Missing) -> Failed | None:
    said = creation.find(_TEXT)
    if said is None:
        return None
    every = [m[0].rstrip() for m in _TEXT.finditer(said.evidence.verbatim)]
    found = said.match.groupdict()
    ranges = _ranges(creation.namespace, found, limit_ranges)
    named = ranges[0].object if ranges else f"limitrange/{creation.namespace}"
    return Failed(
        about=named,
        summary=f"{standing(creation.maker)}: {'; '.join(every)}.",
        evidence=(said.evidence, *ranges),
        remedy=(
            Remedy("Ask for an amount within the bounds", f"kubectl edit -n {_edit(place(creation.maker))}", Risk.LOW),
            Remedy("Or have the bound changed", f"kubectl describe limitrange -n {creation.namespace}", Risk.NONE),
        ),
    )


def _ranges(namespace: str, found: dict[str, str | None], known: LimitRanges | Missing) -> tuple[Evidence, ...]:
    """Which LimitRange says so: the text does not name it."""
    if isinstance(known, Missing) or not found["resource"]:
        return ()
    bound = "max" if found["bound"] == "maximum" else "min"
    return tuple(
        Evidence(
            object=f"limitrange/{namespace}/{each.name}",
            field=f"spec.limits[{item.type}].{bound}[{found['resource']}]",
            value=str(getattr(item, bound)[found["resource"]]),
        )
        for each in known
        if each.namespace == namespace
        for item in each.spec.limits
        if item.type == found["type"] and found["resource"] in getattr(item, bound)
    )


def _edit(ref: str) -> str:
    kind, namespace, name = ref.split("/")
    return f"{namespace} {kind}/{name}"
