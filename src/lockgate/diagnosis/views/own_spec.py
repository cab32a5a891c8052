"""The pod's spec, and its RuntimeClass, for rules that decide by them: Missing where a text does not show them."""

from lockgate.model.facts import Missing
from lockgate.model.objects import Pod, PodSpec
from lockgate.model.told import Part, is_unseen


def spec(pod: Pod) -> PodSpec | Missing:
    """All that was asked for; Missing of a pod that is known by its events alone."""
    if is_unseen(pod, Part.SPEC):
        return Missing("the spec of the pod is not among the facts", how_to_read(pod))
    return pod.spec


def runtime_class(pod: Pod) -> str | Missing:
    """The name of its RuntimeClass, "" for none."""
    if is_unseen(pod, Part.RUNTIME_CLASS):
        return Missing("whether the pod names a RuntimeClass is not among the facts", how_to_read(pod))
    return pod.spec.runtime_class_name or ""


def how_to_read(pod: Pod) -> str:
    """The command that shows all of a pod."""
    return f"kubectl get pod -n {pod.namespace} {pod.name} -o json"
