"""An operand's pod crashes, and the others wait for it.

Driver, toolkit, validator and plugin wait for each other in this order. The first of them that crashes keeps all later
ones in Init; why it crashes is said by its own log, and by no rule that knows the text.

Why it matters: no pod gets a GPU on the node until this one container stays up; the pods that wait are not sick.
How to tell: a container of the first operand in the chain is in CrashLoopBackOff, or has ended with an error.
Fix: read the log of its last run; the first error in it is the cause.
"""

import datetime as dt
from collections.abc import Iterable, Iterator

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import log_lines, pod_ref
from lockgate.diagnosis.stage import Stage, crash_loops, statuses
from lockgate.diagnosis.views.operands import OperandPod, Operands
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.diagnosis.waits import BEFORE_HANDLER, ORDER, waits_of
from lockgate.diagnosis.ways import log_command
from lockgate.kit.counted import counted
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import ContainerStatus, Node, Pod
from lockgate.model.pod_state import is_flapping


@rule(
    codes=(),
    severity=Severity.ERROR,
    stages=(Stage.NODE,),
    gpu=None,
    asks_gpu=None,
    mutes=(
        "containerd/handler-missing",
        "injection/driver-not-loaded",
        "operands/init-waits",
        "operator/policy-not-ready",
    ),
)
def crashes(node: Node, operands: Operands, pod_logs: PodLogs | Missing, snapshot: Snapshot) -> Failed | None:
    here = operands.on(node.name)
    waited_for = [ORDER.index(wait.awaited) for wait in waits_of(here)]
    chain = ORDER[: min(waited_for) + 1] if waited_for else ()
    first = next(_crashed((each for each in here if each.operand in chain), snapshot.taken_at), None)
    if first is None:
        return None
    operand, pod, status = first
    said = log_lines(f"{pod.namespace}/{pod.name}", pod_logs)
    return Failed(
        about=f"node/{node.name}",
        title=f"The {operand} pod crashes; its log decides",
        summary=f"{node.name}: container {status.name} of {pod.name} {_how(status)}, and {_listed(len(waited_for))} for"
        f" it. {'Its log is quoted.' if said else 'Its log is not among what was read.'}",
        evidence=(_state(pod, status), *said),
        spares=() if operand in BEFORE_HANDLER else ("containerd/handler-missing",),
        remedy=(
            Remedy(f"Read why {operand} on {node.name} ends: the first error counts", _log(pod, status), Risk.NONE),
        ),
    )


def _crashed(chain: Iterable[OperandPod], now: dt.datetime | None) -> Iterator[tuple[str, Pod, ContainerStatus]]:
    """The containers of each operand's pod that ended badly and are not up again."""
    for each in chain:
        for status in statuses(each.pod):
            if crash_loops(status) or _failed(status) or is_flapping(status, now):
                yield each.operand, each.pod, status


def _failed(status: ContainerStatus) -> bool:
    return status.state.terminated is not None and status.state.terminated.exit_code != 0


def _how(status: ContainerStatus) -> str:
    ended = status.state.terminated or status.last_state.terminated
    times = f", {counted(status.restart_count, 'restart')}" if status.restart_count else ""
    why = f"{ended.reason}, " if ended and ended.reason not in ("", "Error") else ""
    return f"ends with {why}exit code {ended.exit_code}{times}" if ended else f"ends again and again{times}"


def _listed(count: int) -> str:
    return counted(count, "pod waits", "pods wait")


def _state(pod: Pod, status: ContainerStatus) -> Evidence:
    waiting = status.state.waiting
    ended = status.state.terminated or status.last_state.terminated
    return Evidence(
        object=pod_ref(pod),
        field=f"status.containerStatuses[{status.name}].state",
        value=waiting.reason if waiting else (ended.reason if ended else ""),
        verbatim=(waiting.message if waiting else "") or (ended.message if ended else ""),
    )


def _log(pod: Pod, status: ContainerStatus) -> str:
    return log_command(pod.namespace, pod.name, status.name, previous=bool(status.restart_count), lines=100)
