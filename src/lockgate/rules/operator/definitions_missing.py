"""The cluster lacks an API that the operator needs: its definitions were not updated with it.

Helm installs custom resource definitions once and does not update them; a newer operator then asks for a kind or
version that the API server does not know.

Why it matters: the operator stops there, and what it would do next is not done.
How to tell: `no matches for kind "X" in version "Y"` in its log.
Fix: apply the definitions of the new release (`crds/` of its chart), or let the chart's upgrade hook do it.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.operator_words import OperatorWords
from lockgate.model.finding import Remedy, Risk, Severity

# k8s.io/apimachinery, pkg/api/meta/errors.go (NoKindMatchError).
_TEXT = re.compile(r'no matches for kind \\?"(?P<kind>[^"\\]+)\\?" in (?:version|group) \\?"(?P<version>[^"\\]+)')


@rule(codes=("G13",), severity=Severity.ERROR, stages=(Stage.CLUSTER,), mutes=("operator/policy-not-ready",))
def definitions_missing(operator_words: OperatorWords) -> Failed | None:
    said = operator_words.find(_TEXT)
    if said is None:
        return None
    kind, version = said.match["kind"], said.match["version"]
    group = version.partition("/")[0]
    return Failed(
        about=f"customresourcedefinitions of {group}",
        summary=f"The operator needs {kind} of {version}, and the API server does not know it.",
        evidence=(said.evidence,),
        remedy=(
            Remedy("See which definitions there are", f"kubectl api-resources --api-group={group}", Risk.NONE),
            Remedy("Apply those of the operator's release", "kubectl apply --server-side -f CHART/crds/", Risk.MEDIUM),
        ),
    )
