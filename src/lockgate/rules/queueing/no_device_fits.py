"""Another scheduler finds no GPU, or no part of one, that fits.

KAI and HAMi place pods by devices, not by a number of the node: a part of a GPU's memory or cores, a type, one card of
several. What they miss is in their own words.

Why it matters: `nvidia.com/gpu` of the nodes does not tell how their cards are filled; a node with free slots may have
no card with enough memory left.
How to tell: the pod's events carry KAI's `didn't have enough resources` or HAMi's `Card...` reasons.
Fix: ask for less of what is named, or free it on one card; for a type or a UUID, correct the pod's annotation.
"""

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.other_scheduler import OtherWords
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod
from lockgate.scheduling.other_schedulers import Refusal


@rule(codes=("B12",), severity=Severity.ERROR, stages=(Stage.SCHEDULING,), asks_gpu=None)
def no_device_fits(pod: Pod, other_words: OtherWords) -> Failed | None:
    said = other_words.about(Refusal.DEVICES)
    if said is None:
        return None
    return Failed(
        about=pod_ref(pod),
        summary=f"{said.refusal.scheduler}: {said.refusal.means}.",
        evidence=said.evidence,
        remedy=(
            Remedy(
                "See what the pod asks for, and how the cards of the nodes are filled",
                f"kubectl get pod -n {pod.namespace} {pod.name} -o yaml; kubectl get nodes -o yaml | grep -A3 hami.io",
                Risk.NONE,
            ),
        ),
    )
