"""Failed pods are left over, and others stand for them.

A controller makes a new pod for one that failed, was evicted or was refused, and leaves the old one behind. The
owner of each of these has all of its pods, is done, or has a newer one that does well.

Why it matters: nothing waits for them and they hold no GPU; they fill lists, and people take them for a fault of now.
How to tell: `kubectl get pods` shows Error, Evicted or UnexpectedAdmissionError beside pods of the same owner that run.
Fix: delete them. If many of them are young, ask why one of them failed: `kubectl gpu why pod/NAME`.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.kit.counted import counted
from lockgate.model.facts import Pods
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod

_MOST: Final = 3  # namespaces of which the command is told


@rule(codes=(), severity=Severity.INFO, stages=(Stage.REPLACED,), gpu=False, asks_gpu=None)
def replaced(replaced: Pods) -> Failed | None:
    if not replaced:
        return None
    spaces = sorted({p.namespace for p in replaced})
    reasons = _by_reason(replaced)
    told = ", ".join(f"{len(pods)} {reason}" for reason, pods in reasons.items())
    left = counted(len(replaced), "failed pod is", "failed pods are")
    return Failed(
        about=f"namespace/{spaces[0]}" if len(spaces) == 1 else "pods",
        summary=f"{left} left over in {_few(spaces)} ({told}){_since(replaced)}; nobody misses them.",
        evidence=tuple(_seen(reason, pods) for reason, pods in reasons.items()),
        remedy=tuple(_remove(space) for space in spaces[:_MOST]),
    )


def _by_reason(pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    """The oldest first of each reason, the commonest reason first."""
    found: dict[str, list[Pod]] = {}
    for pod in sorted(pods, key=lambda p: (str(p.metadata.creation_timestamp or ""), p.namespace, p.name)):
        found.setdefault(_reason(pod), []).append(pod)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _reason(pod: Pod) -> str:
    """As `kubectl get pods` shows it."""
    ended = (s.state.terminated.reason for s in pod.status.container_statuses if s.state.terminated)
    return pod.status.reason or next((reason for reason in ended if reason), "") or "Error"


def _since(pods: Iterable[Pod]) -> str:
    born = [p.metadata.creation_timestamp for p in pods if p.metadata.creation_timestamp]
    return f", the oldest of {min(born):%Y-%m-%d}" if born else ""


def _few(names: Sequence[str]) -> str:
    more = len(names) - _MOST
    return ", ".join(names[:_MOST]) + (f" and {counted(more, 'more namespace')}" if more > 0 else "")


def _seen(reason: str, pods: Sequence[Pod]) -> Evidence:
    more = f"and {len(pods) - 1} more of that reason" if len(pods) > 1 else ""
    return Evidence(
        object=pod_ref(pods[0]),
        field="status.reason" if pods[0].status.reason else "status.phase",
        value=reason if pods[0].status.reason else f"Failed, {reason}",
        verbatim=pods[0].status.message,
        note=more,
    )


def _remove(namespace: str) -> Remedy:
    return Remedy(
        f"Remove every failed pod of {namespace}",
        f"kubectl delete pods -n {namespace} --field-selector=status.phase=Failed",
        Risk.LOW,
    )
