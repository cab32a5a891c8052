"""A ResourceQuota has not been counted yet, so no pod is admitted.

Until the controller manager has counted what a new quota's namespace uses, the API server refuses every pod that the
quota is about.

Why it matters: it ends by itself within seconds. If it lasts, the quota controller does not work, and nothing new
starts in the namespace.
How to tell: the event says `status unknown for quota`; the quota's `status.used` is empty.
Fix: wait a moment; then look at the controller manager.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.standing import standing
from lockgate.diagnosis.views.creation import Creation
from lockgate.model.finding import Remedy, Risk, Severity

# apiserver/pkg/admission/plugin/resourcequota/controller.go (hasUsageStats)
_TEXT = re.compile(r"status unknown for quota: (?P<name>[^,\s]+), resources: (?P<what>\S+)")


@rule(codes=("A02",), severity=Severity.BLOCKER, stages=(Stage.NO_POD,), gpu=False, asks_gpu=None)
def quota_uncounted(creation: Creation) -> Failed | None:
    said = creation.find(_TEXT)
    if said is None:
        return None
    name = said.match["name"]
    return Failed(
        about=f"resourcequota/{creation.namespace}/{name}",
        summary=f"{standing(creation.maker)}: quota {name} has no count of {said.match['what']} yet.",
        evidence=(said.evidence,),
        remedy=(
            Remedy(
                "See whether status.used is there now; the controller tries again by itself",
                f"kubectl get quota -n {creation.namespace} {name} -o yaml",
                Risk.NONE,
            ),
        ),
    )
