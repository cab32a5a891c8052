"""What the kubelet wrote into a pod's status when it refused or ended it, as evidence, and what is left to do."""

from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import bad_end
from lockgate.model.finding import Evidence, Remedy, Risk
from lockgate.model.objects import Pod


def is_ended_by_kubelet(pod: Pod) -> bool:
    """Whether a pod's status says itself why it failed, and no container ended with an error."""
    status = pod.status
    return status.phase == "Failed" and bool(status.reason or status.message) and bad_end(pod) == (None, None)


def words_of_kubelet(pod: Pod) -> tuple[Evidence, ...]:
    """The reason and the message of a pod's status, each as it stands there."""
    told, ref = pod.status, pod_ref(pod)
    reason = (Evidence(object=ref, field="status.reason", value=told.reason),) if told.reason else ()
    message = (Evidence(object=ref, field="status.message", verbatim=told.message),) if told.message else ()
    return (*reason, *message)


def made_anew(pod: Pod) -> tuple[Remedy, ...]:
    """A pod that failed stays so; only another one runs."""
    command = f"kubectl delete pod -n {pod.namespace} {pod.name}"
    return (Remedy("It never runs again; delete it, and make it anew where no controller does", command, Risk.LOW),)
