"""Findings about a pod that a text tells of: nothing in them that the text does not show.

Rules speak of the pod's node, container and status as of any other. Here what nobody saw leaves the evidence, what an
event says is quoted as that event, and commands look up the names that are not known.
"""

from collections.abc import Iterable, Iterator

import msgspec

from lockgate.diagnosis.seen import event, pod_ref
from lockgate.model.facts import Events
from lockgate.model.finding import Evidence, Finding, NotChecked, Remedy
from lockgate.model.objects import Pod
from lockgate.model.told import UNSEEN_CONTAINER, UNSEEN_NODE, Part, ToldPod, is_unseen


def finding_as_told(finding: Finding, pod: Pod | None, events: Events) -> Finding:
    """The finding as it is; about a pod that a text tells of, with what that text shows."""
    if not isinstance(pod, ToldPod):
        return finding
    return msgspec.structs.replace(
        finding,
        about=pod_ref(pod) if UNSEEN_NODE in finding.about else finding.about,
        summary=_sentence(finding.summary),
        evidence=tuple(dict.fromkeys(_evidence(finding.evidence, pod, events))),
        remedy=tuple(_remedy(each, pod) for each in finding.remedy),
        affects=tuple(name for name in finding.affects if name != UNSEEN_NODE),
    )


def question_as_told(question: NotChecked, pod: Pod | None) -> NotChecked:
    """The same for what stays open."""
    return msgspec.structs.replace(question, how=_command(question.how, pod)) if isinstance(pod, ToldPod) else question


def _evidence(every: Iterable[Evidence], pod: ToldPod, events: Events) -> Iterator[Evidence]:
    for each in every:
        own = each.object == pod_ref(pod) and not each.field.startswith("event ")
        if own and is_unseen(pod, Part.SPEC):
            said = next((e for e in reversed(events) if each.verbatim and each.verbatim == e.text), None)
            yield from (event(said),) if said else ()
        elif not any(UNSEEN_NODE in text for text in (each.object, each.file)):
            yield each


def _sentence(text: str) -> str:
    told = text.replace(f"Container {UNSEEN_CONTAINER}", UNSEEN_CONTAINER)
    told = told.replace(f"container {UNSEEN_CONTAINER}", UNSEEN_CONTAINER)
    return told[:1].upper() + told[1:] if told.startswith((UNSEEN_NODE, UNSEEN_CONTAINER)) else told


def _remedy(remedy: Remedy, pod: Pod) -> Remedy:
    return msgspec.structs.replace(remedy, text=_sentence(remedy.text), command=_command(remedy.command, pod))


def _command(command: str, pod: Pod) -> str:
    """Without `-c` kubectl takes the default container; the node's name is asked of the pod."""
    node = f"$(kubectl get pod -n {pod.namespace} {pod.name} -o jsonpath={{.spec.nodeName}})"
    return command.replace(f" -c {UNSEEN_CONTAINER}", "").replace(UNSEEN_NODE, node)
