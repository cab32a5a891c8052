"""An admission webhook does not answer, so no pod can be made.

The webhook's configuration says `failurePolicy: Fail`, and its service is gone, down or too slow.

Why it matters: it stops every pod that it is asked about, of GPU workloads and of operands alike, often long after the
program behind it (a scheduler such as HAMi, Volcano, KAI or Kueue, or a policy engine) was removed.
How to tell: the event says `failed calling webhook`; the rest is the way to it that failed (no such service, timeout,
certificate).
Fix: bring the program behind the webhook back, or delete the configuration that it left behind.
"""

import re

from lockgate.diagnosis.followers import WITHOUT_PODS
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.standing import place, standing
from lockgate.diagnosis.views.creation import Creation
from lockgate.model.finding import Remedy, Risk, Severity

_TEXT = re.compile(r'failed calling webhook "(?P<name>[^"]+)": (?:failed to call webhook: )?(?P<why>.+)', re.DOTALL)


@rule(
    codes=("A08",),
    severity=Severity.BLOCKER,
    stages=(Stage.NO_POD, Stage.OPERAND),
    gpu=False,
    asks_gpu=None,
    mutes=WITHOUT_PODS,
)
def webhook_down(creation: Creation) -> Failed | None:
    said = creation.find(_TEXT)
    if said is None:
        return None
    name, why = said.match["name"], said.match["why"].strip()
    return Failed(
        about=place(creation.maker),
        summary=f"{standing(creation.maker)}: webhook {name} has to admit them and cannot be asked: {why}",
        evidence=(said.evidence,),
        remedy=(
            Remedy(
                "Find the configuration with this webhook, and see whether the service that it names has pods",
                f"kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations -o yaml | grep -A12 {name}",
                Risk.NONE,
            ),
            Remedy("Bring the service back, or delete the configuration if its program was removed", "", Risk.HIGH),
        ),
    )
