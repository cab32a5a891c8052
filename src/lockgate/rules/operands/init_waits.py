"""Operands wait in Init for another one that is not ready.

Driver, toolkit, validator and plugin start in this order: an init container of each waits until the one before has
left its file in `/run/nvidia/validations`.

Why it matters: `Init:0/1` is never a cause. Of a dozen pods that do not start only the first in the order is sick.
How to tell: the first init container that is still running names what it waits for.
Fix: mend the operand that is named; the others then start by themselves.
"""

from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import listed, log_lines, pod_ref
from lockgate.diagnosis.stage import Stage, is_ready, statuses
from lockgate.diagnosis.views.operands import OperandPod, Operands
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.diagnosis.waits import BEFORE_HANDLER, ORDER, Wait, waits_of
from lockgate.diagnosis.ways import log_command
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod


@rule(
    codes=("I01",),
    severity=Severity.ERROR,
    stages=(Stage.NODE,),
    asks_gpu=None,
    mutes=(
        "containerd/handler-missing",
        "injection/driver-not-loaded",
        "operands/plugin-gone",
        "operator/policy-not-ready",
    ),
)
def init_waits(node: Node, operands: Operands, pod_logs: PodLogs | Missing) -> Failed | Passed | None:
    here = operands.on(node.name)
    waits = waits_of(here)
    if not waits:
        return Passed(f"no operand waits in Init on {node.name}") if here else None
    first = min(waits, key=lambda w: ORDER.index(w.awaited))
    blamed = _blamed(first.awaited, here)
    said = log_lines(f"{first.pod.namespace}/{first.pod.name}", pod_logs)
    return Failed(
        about=f"node/{node.name}",
        title=f"Operands wait for {first.awaited}",
        summary=f"{node.name}: {_listed(waits)} in Init until {first.awaited} is ready. {_why(first, blamed)}",
        evidence=(
            *((_state(blamed.pod),) if blamed else ()),
            *(_seen(wait) for wait in waits),
            *(log_lines(f"{blamed.pod.namespace}/{blamed.pod.name}", pod_logs) if blamed else ()),
            *said,
        ),
        spares=_spared(first.awaited),
        remedy=(_remedy(first, blamed, node.name),),
    )


def _spared(awaited: str) -> tuple[str, ...]:
    """What does not follow from waiting for an operand: it comes before that one has its turn."""
    driver = () if awaited == ORDER[0] else ("injection/driver-not-loaded",)
    return driver if awaited in BEFORE_HANDLER else ("containerd/handler-missing", *driver)


def _blamed(awaited: str, here: tuple[OperandPod, ...]) -> OperandPod | None:
    return next((each for each in here if each.operand == awaited), None)


def _listed(waits: tuple[Wait, ...]) -> str:
    return f"{listed(wait.pod.name for wait in waits)} wait"


def _why(wait: Wait, blamed: OperandPod | None) -> str:
    if blamed is None:
        return f"No pod of {wait.awaited} is on the node" + (
            ": a driver that is installed on the host is looked for." if wait.awaited == "driver" else "."
        )
    pod = blamed.pod
    if is_ready(pod):
        return f"Its pod {pod.name} is ready, and has not said that its work is done."
    return f"Its pod {pod.name}: {_trouble(pod)}."


def _trouble(pod: Pod) -> str:
    for status in statuses(pod):
        waiting, ended = status.state.waiting, status.state.terminated
        if waiting and waiting.reason not in ("", "PodInitializing", "ContainerCreating"):
            return f"container {status.name}: {waiting.reason}{f': {waiting.message}' if waiting.message else ''}"
        if ended and ended.exit_code:
            return f"container {status.name} ended with exit code {ended.exit_code}"
    return pod.status.message or f"phase {pod.status.phase or 'unknown'}, not ready"


def _state(pod: Pod) -> Evidence:
    ready = is_ready(pod)
    return Evidence(
        object=pod_ref(pod),
        field="status",
        value="Ready" if ready else "not Ready",
        verbatim="" if ready else _trouble(pod),
    )


def _seen(wait: Wait) -> Evidence:
    field = f"status.initContainerStatuses[{wait.container}]"
    return Evidence(object=pod_ref(wait.pod), field=field, value="running", note=f"waits for {wait.awaited}")


def _remedy(wait: Wait, blamed: OperandPod | None, node: str) -> Remedy:
    pod = blamed.pod if blamed else wait.pod
    text = f"Read what {wait.awaited if blamed else wait.container} on {node} says"
    return Remedy(text, log_command(pod.namespace, pod.name), Risk.NONE)
