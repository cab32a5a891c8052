"""Several NVIDIADriver objects want the same node, or several are the default.

With drivers described by NVIDIADriver objects each node may be selected by one of them only.

Why it matters: the operator leaves the node as it is; a new one gets no driver at all, and nothing on it says why.
How to tell: the reason `ConflictingNodeSelector` in the status of the object, or the operator's log.
Fix: change the node selectors so that they do not overlap; keep one default.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import listed
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.operator_words import OperatorWords
from lockgate.model.facts import Missing, NvidiaDrivers
from lockgate.model.finding import Evidence, Remedy, Risk, Severity

# gpu-operator, internal/validator and internal/conditions (2025-09); the first two are those of 26.x.
_TEXT = re.compile(
    r"multiple NVIDIADrivers match the same node|multiple default NVIDIADrivers found|ConflictingNodeSelector"
    r"|conflicting NVIDIADriver NodeSelectors found"
)


@rule(codes=("G11",), severity=Severity.ERROR, stages=(Stage.CLUSTER,), mutes=("operator/policy-not-ready",))
def driver_conflict(operator_words: OperatorWords, nvidia_drivers: NvidiaDrivers | Missing) -> Failed | None:
    said = operator_words.find(_TEXT)
    if said is None:
        return None
    drivers = () if isinstance(nvidia_drivers, Missing) else nvidia_drivers
    which = f" ({listed(d.name for d in drivers)})" if drivers else ""
    return Failed(
        about="nvidiadrivers",
        summary=f"More than one NVIDIADriver{which} claims the same nodes, so the operator gives them no driver.",
        evidence=(
            said.evidence,
            *(
                Evidence(object=f"nvidiadriver/{d.name}", field="spec.nodeSelector", value=_selector(d.spec))
                for d in drivers
            ),
        ),
        remedy=(
            Remedy(
                "See which nodes each of them selects",
                "kubectl get nvidiadrivers -o custom-columns=NAME:.metadata.name,SELECTS:.spec.nodeSelector",
                Risk.NONE,
            ),
        ),
    )


def _selector(spec: dict[str, object]) -> str:
    selects = spec.get("nodeSelector")
    if isinstance(selects, dict) and selects:
        return ", ".join(f"{key}={value}" for key, value in sorted(selects.items()))
    return "every node" if not spec.get("default") else "default"
