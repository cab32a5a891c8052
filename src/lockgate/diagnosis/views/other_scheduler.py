"""What a scheduler other than kube-scheduler said of a pod: its condition, else its newest event that is understood."""

import msgspec

from lockgate.diagnosis.seen import event, scheduler_word
from lockgate.model.facts import Events, Missing
from lockgate.model.finding import Evidence
from lockgate.model.objects import Pod
from lockgate.scheduling.other_schedulers import OtherRefusal, Refusal, parse_other

# Volcano and KAI name a pod's group so; kube-scheduler has it in the spec.
_GROUPS = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name", "pod-group-name")


class OtherSaid(msgspec.Struct, frozen=True):
    """A refusal that is understood, and where it was read."""

    refusal: OtherRefusal
    evidence: tuple[Evidence, ...]


class OtherWords:
    """What was said, newest first."""

    def __init__(self, said: tuple[OtherSaid, ...]) -> None:
        self._said = said

    def about(self, what: Refusal) -> OtherSaid | None:
        """The newest words of all, if they are about that."""
        newest = next(iter(self._said), None)
        return newest if newest and newest.refusal.about is what else None


def other_words(pod: Pod, pod_events: Events | Missing) -> OtherWords:
    """Read the pod's condition and events; texts that no scheduler known here writes are left out."""
    events = () if isinstance(pod_events, Missing) else pod_events
    word = scheduler_word(pod)
    texts = [*([word] if word else []), *(event(e) for e in reversed(events))]
    found = ((parse_other(each.verbatim), each) for each in texts)
    return OtherWords(tuple(OtherSaid(refusal, (each,)) for refusal, each in found if refusal))


def group_of(pod: Pod) -> str:
    """The name of the pod's group, "" where it has none."""
    annotations = pod.metadata.annotations
    return next((annotations[key] for key in _GROUPS if key in annotations), "")
