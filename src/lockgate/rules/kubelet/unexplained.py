"""The kubelet refused or ended the pod, for a reason that is not explained here.

The pod's status says Failed with a reason of the kubelet's own, and no container ended with an error.

Why it matters: the pod stays Failed for good, and no program of it is to blame.
How to tell: phase Failed, a `status.reason`, and no container with an exit code.
Fix: read the words that are quoted; then delete the pod, where no controller has made another one.
"""

from lockgate.diagnosis.kubelet_words import is_ended_by_kubelet, made_anew, words_of_kubelet
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.model.finding import Severity
from lockgate.model.objects import Pod


@rule(
    codes=(),
    severity=Severity.ERROR,
    stages=(Stage.ADMISSION, Stage.FAILED),
    gpu=None,
    fallback=True,
    asks_gpu=None,
)
def unexplained(pod: Pod) -> Failed | None:
    if not is_ended_by_kubelet(pod):
        return None
    said = ": ".join(filter(None, (pod.status.reason, pod.status.message))).rstrip(".")
    return Failed(
        about=pod_ref(pod),
        summary=f"It says: {said}. Whether a GPU has to do with it cannot be told from here.",
        evidence=words_of_kubelet(pod),
        remedy=made_anew(pod),
    )
