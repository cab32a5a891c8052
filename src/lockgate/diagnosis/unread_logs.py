"""Whose logs were not read although others were: those of a pod itself, and those in which a node's XIDs are told.

A look reads some logs and leaves others alone, and a person sends some. A container that is well and says nothing in
what was read of its pod counts as read.
"""

from collections.abc import Iterable
from typing import Final

from lockgate.diagnosis.stage import Stage, statuses
from lockgate.diagnosis.subject import Facts, Subject
from lockgate.model.facts import Missing
from lockgate.model.objects import Pod
from lockgate.model.pod_state import has_run, is_well

# Operands that may be ready and say in their logs what is wrong with the node's GPUs.
_TELLING: Final = ("driver", "device-plugin")


def unread_logs(subject: Subject, facts: Facts) -> Missing | None:
    """Which logs of a subject were not read, of facts that hold logs; None where they were, or where there are none."""
    logs = facts.get("logs")
    read = set() if isinstance(logs, Missing) else {(log.namespace, log.pod, log.container) for log in logs}
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
    return _missing(f"its container {name}" for name in sick if (pod.namespace, pod.name, name) not in read)


def _is_unread(pod: Pod, read: Iterable[tuple[str, str, str]]) -> bool:
    ran = any(map(has_run, statuses(pod)))
    return ran and not any((namespace, name) == (pod.namespace, pod.name) for namespace, name, _ in read)


def _missing(whose: Iterable[str]) -> Missing | None:
    names = " and of ".join(whose)
    return Missing(f"the log of {names} was not read", "kubectl logs") if names else None
