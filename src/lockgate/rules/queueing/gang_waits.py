"""The pod belongs to a group that is placed together or not at all.

Gang scheduling (Volcano, KAI, Kueue's topology, kube-scheduler since 1.35) holds every pod of a group back until enough
of them fit at once, or until enough of them exist.

Why it matters: this pod alone would fit, and GPUs stand free for it. What counts is the member that does not fit, or
that nobody has made.
How to tell: the words speak of a gang, `minAvailable`, `minCount` or a pod group.
Fix: look at the group: how many pods it wants, how many there are, and what the others wait for.
"""

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref, scheduler_text
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.other_scheduler import OtherWords, group_of
from lockgate.kit.counted import counted
from lockgate.model.facts import Events, Missing, PodGroups
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod
from lockgate.scheduling.causes import Cause
from lockgate.scheduling.other_schedulers import Refusal


@rule(codes=("B12",), severity=Severity.BLOCKER, stages=(Stage.SCHEDULING,), gpu=False, asks_gpu=None)
def gang_waits(
    pod: Pod, other_words: OtherWords, pod_events: Events | Missing, pod_groups: PodGroups | Missing
) -> Failed | None:
    said = other_words.about(Refusal.GANG)
    word, why = (
        (said.evidence[0], f"{said.refusal.scheduler}: {said.refusal.means}")
        if said
        else _of_kube_scheduler(pod, pod_events)
    )
    if word is None:
        return None
    group = group_of(pod)
    return Failed(
        about=f"podgroup/{pod.namespace}/{group}" if group else pod_ref(pod),
        summary=f"{why}.",
        evidence=(word, *_group(pod, group, pod_groups)),
        remedy=(
            Remedy(
                "See the group, and what each of its pods waits for",
                f"kubectl get podgroups -n {pod.namespace} -o yaml; kubectl get pods -n {pod.namespace} -o wide",
                Risk.NONE,
            ),
        ),
    )


def _of_kube_scheduler(pod: Pod, events: Events | Missing) -> tuple[Evidence | None, str]:
    """kube-scheduler's own words, from 1.35."""
    word, text = scheduler_text(pod, () if isinstance(events, Missing) else events)
    if word is None:
        return None, ""
    said = [r.text for r in text.reasons if r.cause is Cause.GANG] if text else []
    prefilter = text.prefilter if text and text.prefilter_cause is Cause.GANG else ""
    why = said[0] if said else prefilter
    return (word, f"kube-scheduler: {why}") if why else (None, "")


def _group(pod: Pod, group: str, known: PodGroups | Missing) -> tuple[Evidence, ...]:
    there = () if isinstance(known, Missing) else known
    return tuple(
        Evidence(
            object=f"podgroup/{g.namespace}/{g.name}",
            field="status.phase",
            value=g.status.phase or "unknown",
            note=f"wants {counted(g.spec.min_member or 0, 'pod')} at once, queue {g.spec.queue or 'default'}",
        )
        for g in there
        if (g.namespace, g.name) == (pod.namespace, group)
    )
