"""A pod stays in Terminating: a finalizer keeps it.

It was deleted and its time of grace is over. It goes only when whoever put a finalizer on it takes that off: the Job
controller, the garbage collector, Kueue, or another controller that is away, or waits itself.

Why it matters: the scheduler counts the GPUs of a pod until it is gone or its phase is Succeeded or Failed, also after
its containers have ended and the kubelet could give the devices to others. A StatefulSet makes no new pod of its name.
How to tell: `metadata.finalizers` is not empty, `metadata.deletionTimestamp` is past, and the node is Ready. Where
containers still run, the kubelet has not ended them: the devices are in use, and no finalizer is the reason.
Fix: see the controller whose finalizer it is. Taking it off by hand is the last resort, once that controller is known
to be gone: what it was to do is not done then. `--force` does not take it off.
"""

import datetime as dt
from collections.abc import Mapping

import msgspec

from lockgate.diagnosis.gate_row import GateRow
from lockgate.diagnosis.held_pods import is_held, told
from lockgate.diagnosis.node_start import is_silent
from lockgate.diagnosis.rule import Failed, Skipped, on_each, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne, gpu_asked
from lockgate.diagnosis.views.places import Places
from lockgate.model.facts import Missing, Pods, Snapshot
from lockgate.model.finding import Severity
from lockgate.model.objects import Node, Pod
from lockgate.model.told import Part, is_unseen
from lockgate.scheduling.node_fit import is_terminal


@rule(
    codes=(),
    severity=Severity.ERROR,
    stages=(Stage.TERMINATING, Stage.SCHEDULING, Stage.NODE, Stage.CLUSTER),
    gpu=False,
    asks_gpu=None,
    mutes=("scheduling/all-held",),
)
def held_by_finalizer(
    pod: Pod,
    stage: Stage,
    node: Node | Missing,
    gate_one: GateOne | Missing,
    places: Places | Missing,
    pods: Pods | Missing,
    snapshot: Snapshot,
) -> Failed | Skipped | None:
    known, now = {} if isinstance(places, Missing) else places.nodes, snapshot.taken_at
    if stage is Stage.TERMINATING and is_unseen(pod, Part.FINALIZERS):
        how = f"kubectl get pod -n {pod.namespace} {pod.name} -o json"
        return Skipped("a description shows neither finalizers nor since when it should be gone", how)
    if stage is Stage.TERMINATING:
        held = is_held(pod, now) and not _is_sick(known.get(pod.spec.node_name))
        return told(pod_ref(pod), (pod,), now, known) if held else None
    if stage is Stage.CLUSTER:
        idle = [] if isinstance(pods, Missing) or not known else _idle(pods, now, known)
        return _mild(told("pods", idle, now, known), Severity.INFO) if idle else None
    if isinstance(places, Missing):
        return None
    if stage is Stage.NODE:
        held_here = [] if isinstance(node, Missing) else _held_on(node, places, now)
        return _mild(_on(held_here, now, known), Severity.WARNING) if held_here else None
    rows = () if isinstance(gate_one, Missing) else gate_one.nearest
    freeing = (_that_free(row, places, now) for row in rows if row.node in known)
    parts = [_on(pods, now, known) for pods in freeing if pods]
    return on_each(parts) if parts else None


def _mild(failed: Failed, severity: Severity) -> Failed:
    """Where no pod is asked about: whether it is why one waits is asked of that pod."""
    return msgspec.structs.replace(failed, severity=severity, spares=("scheduling/all-held",))


def _idle(pods: Pods, now: dt.datetime | None, known: Mapping[str, Node]) -> list[Pod]:
    """Those of the cluster that take nothing of a node: they have none, it is gone, or their phase says they ended."""
    going = (each for each in pods if each.metadata.deletion_timestamp is not None)
    held = (each for each in going if is_held(each, now) and gpu_asked(each))
    return [each for each in held if each.spec.node_name not in known or is_terminal(each)]


def _on(pods: list[Pod], now: dt.datetime | None, known: Mapping[str, Node]) -> Failed:
    name = pods[0].spec.node_name
    return msgspec.structs.replace(told(f"node/{name}", pods, now, known), nodes=(name,))


def _that_free(row: GateRow, places: Places, now: dt.datetime | None) -> list[Pod]:
    """The held pods on a node whose going would make room for the pod that is asked about."""
    going = any(holder.terminating for holder in row.holders)
    if not going or row.requested is None or not row.obstacles or not row.only_devices_short():
        return []
    held = _held_on(places.nodes[row.node], places, now)
    names = {f"{each.namespace}/{each.name}" for each in held}
    freed = sum(holder.count for holder in row.holders if holder.pod in names)
    return held if row.allocatable - row.requested + freed >= row.asked else []


def _held_on(node: Node, places: Places, now: dt.datetime | None) -> list[Pod]:
    """Those on a node that the scheduler counts GPUs of; none where the node's own illness keeps them."""
    going = places.leaving(node.name)
    return [] if not going or _is_sick(node) else [p for p in going if is_held(p, now) and gpu_asked(p)]


def _is_sick(node: Node | None) -> bool:
    """Whether that is what keeps its pods."""
    return node is not None and is_silent(node)
