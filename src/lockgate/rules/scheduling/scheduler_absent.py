"""The scheduler that the pod names has not looked at it.

The pod asks for a scheduler of its own, and nobody has written a condition or an event about it.

Why it matters: the default scheduler leaves such pods alone; when the named one is not installed, is down, or holds the
pod in a queue, the pod waits without a word.
How to tell: `spec.schedulerName` is another than default-scheduler, and the pod has neither a condition nor an event.
Fix: see whether that scheduler runs; a webhook of a queueing system may have set the name.
"""

from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import pod_ref, scheduler_word
from lockgate.diagnosis.stage import Stage
from lockgate.model.facts import Events
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod

_DEFAULT = ("", "default-scheduler")


@rule(codes=("B08",), severity=Severity.ERROR, stages=(Stage.SCHEDULING,), gpu=False, asks_gpu=None)
def scheduler_absent(pod: Pod, pod_events: Events) -> Failed | Passed | None:
    name = pod.spec.scheduler_name
    if name in _DEFAULT or pod.spec.scheduling_gates:
        return None
    if scheduler_word(pod) is not None or pod_events:
        return Passed(f"scheduler {name} has looked at it")
    return Failed(
        about=pod_ref(pod),
        summary=f'It waits for scheduler "{name}", which has written no condition and no event about it.',
        evidence=(
            Evidence(object=pod_ref(pod), field="spec.schedulerName", value=name),
            Evidence(object=pod_ref(pod), field="status.conditions[PodScheduled]", value="absent"),
        ),
        remedy=(Remedy(f"See whether {name} runs and what it says", f"kubectl get pods -A | grep {name}", Risk.NONE),),
    )
