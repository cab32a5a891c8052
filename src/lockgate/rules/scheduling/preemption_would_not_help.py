"""What the scheduler says of preemption is no cause.

`Preemption is not helpful for scheduling` and `No preemption victims found for incoming pod` end the text about a pod
that fits nowhere. They say what evicting pods of lower priority could do, after the pod was refused for another reason.

Why it matters: they are the last words of the event and are searched for, and no setting of preemption mends the pod.
How to tell: the reasons stand before `preemption:`. `No preemption victims` means that no pod on the node has a lower
priority. `Preemption is not helpful` means that no pod's end would let it in there: a taint, a selector or a cordon
keeps it away, or the node has fewer GPUs than it asks for. Below Kubernetes 1.34 a node without any GPU says `No
preemption victims` as well.
Fix: mend the reason before it. Where the pod may displace others, give it a PriorityClass above theirs.
"""

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref, scheduler_text
from lockgate.diagnosis.stage import Stage
from lockgate.kit.counted import counted
from lockgate.model.facts import Events, Missing
from lockgate.model.finding import Evidence, Severity
from lockgate.model.objects import Pod
from lockgate.scheduling.messages import Preemption


@rule(codes=("C19",), severity=Severity.INFO, stages=(Stage.SCHEDULING,), gpu=None, asks_gpu=None, aside=True)
def preemption_would_not_help(pod: Pod, pod_events: Events | Missing) -> Failed | None:
    word, text = scheduler_text(pod, () if isinstance(pod_events, Missing) else pod_events)
    after = text.preemption if text else None
    if after is None or not (after.victims_missing or after.not_helpful):
        return None
    return Failed(
        about=pod_ref(pod),
        summary=f"Ignore the event's words on preemption: {_meaning(after)}.",
        evidence=_quoted(word, after),
    )


def _quoted(word: Evidence | None, after: Preemption) -> tuple[Evidence, ...]:
    """The part of the text that it is about; whole it stands with the cause."""
    told = ", ".join(f"{reason.count} {reason.text}" for reason in after.reasons)
    return (Evidence(object=word.object, field=word.field, value=told),) if word else ()


def _meaning(after: Preemption) -> str:
    told = {
        "on {} no pod has a lower priority to give way": after.victims_missing,
        "ending other pods would not help on {}": after.not_helpful,
    }
    return ", ".join(text.format(_nodes(count)) for text, count in told.items() if count)


def _nodes(count: int) -> str:
    return counted(count, "node")
