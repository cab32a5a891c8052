"""The containers cannot be made, for a reason that is not explained here.

The kubelet's or the runtime's own words are quoted.

Why it matters: an unknown text must not be taken for one of the known faults.
How to tell: a container waits with a reason that is neither ContainerCreating nor PodInitializing.
Fix: read the quoted text; the runtime's log on the node says more.
"""

from lockgate.diagnosis.node_start import start_of
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import event, pod_ref, some
from lockgate.diagnosis.stage import Stage, statuses
from lockgate.diagnosis.views.operands import Operands
from lockgate.model.facts import Events, Missing, Snapshot
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import ContainerStatus, Node, Pod

_ON_ITS_WAY = ("", "ContainerCreating", "PodInitializing")


@rule(codes=(), severity=Severity.ERROR, stages=(Stage.CREATING,), gpu=None, fallback=True, asks_gpu=None)
def not_created(
    pod: Pod, pod_events: Events | Missing, operands: Operands, own_node: Node | Missing, snapshot: Snapshot
) -> Failed | None:
    stuck = next((s for s in statuses(pod) if s.state.waiting and s.state.waiting.reason not in _ON_ITS_WAY), None)
    warnings = [e for e in (() if isinstance(pod_events, Missing) else pod_events) if e.type == "Warning"]
    if stuck is None and not warnings:
        return None
    last = warnings[-1] if warnings else None
    words = _words(stuck) if stuck else (last.text if last else "")
    return Failed(
        about=pod_ref(pod),
        severity=Severity.WARNING if _is_starting(pod, operands, own_node, snapshot) else None,
        summary=f"On {pod.spec.node_name}: {words}",
        evidence=some(_state(pod, stuck) if stuck else None, event(last) if last else None),
        remedy=(Remedy("Look at the pod's events", f"kubectl describe pod -n {pod.namespace} {pod.name}", Risk.NONE),),
    )


def _is_starting(pod: Pod, operands: Operands, node: Node | Missing, snapshot: Snapshot) -> bool:
    """Whether it is an operand of a node that starts: what its first tries said may be over."""
    if isinstance(node, Missing) or not operands.name_of(pod):
        return False
    return start_of(node, operands.on(node.name), snapshot.taken_at) is not None


def _words(stuck: ContainerStatus) -> str:
    waiting = stuck.state.waiting
    return ": ".join(filter(None, (f"container {stuck.name}", waiting.reason, waiting.message))) if waiting else ""


def _state(pod: Pod, stuck: ContainerStatus) -> Evidence | None:
    waiting = stuck.state.waiting
    if waiting is None:
        return None
    field = f"status.containerStatuses[{stuck.name}].state.waiting"
    return Evidence(object=pod_ref(pod), field=field, value=waiting.reason, verbatim=waiting.message)
