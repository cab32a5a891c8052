"""Whose logs were not read although others were: those of a pod itself, and those in which a node's XIDs are told.

A look reads some logs and leaves others alone, and a person sends some. A container that is well and says nothing in
what was read of its pod counts as read.
"""

from collections.abc import Iterable
from typing import Final

from lockgate.diagnosis.stage import Stage, statuses
from lockgate.diagnosis.subject import Facts, Subject
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.model.facts import Missing
from lockgate.model.objects import Pod
from lockgate.model.pod_state import has_run, is_well

# Operands that may be ready and say in their logs what is wrong with the node's GPUs.
_TELLING: Final = ("driver", "device-plugin")


def unread_logs(subject: Subject, facts: Facts) -> Missing | None:
    """Which logs of a subject were not read, of facts that hold logs; None where they were, or where there are none."""
    read = facts.get("pod_logs")
    if isinstance(read, Missing):
        return None
    if subject.stage is Stage.NODE and subject.node is not None:
        operands = facts.get("operands").on(subject.node.name)
        silent = [each.operand for each in operands if each.operand in _TELLING and _is_unread(each.pod, read)]
        return _missing(f"its {name}" for name in silent)
    if subject.pod is None or subject.stage in (Stage.OPERAND, Stage.CLUSTER):
        return None
    pod = subject.pod
    if _is_unread(pod, read):
        return _missing((f"pod {pod.name}",))
    sick = [s.name for s in statuses(pod) if has_run(s) and not is_well(s)]
    return _missing(f"its container {name}" for name in sick if name not in _read_of(pod, read))


def _is_unread(pod: Pod, read: PodLogs) -> bool:
    return any(map(has_run, statuses(pod))) and not _read_of(pod, read)


def _read_of(pod: Pod, read: PodLogs) -> set[str]:
    """The containers of a pod of which a log was read."""
    return {log.container for log in read.of(pod.namespace, pod.name)}


def _missing(whose: Iterable[str]) -> Missing | None:
    names = " and of ".join(whose)
    return Missing(f"the log of {names} was not read", "kubectl logs") if names else None
