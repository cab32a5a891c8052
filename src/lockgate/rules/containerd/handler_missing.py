"""The runtime handler is not configured on the node.

The pod's RuntimeClass names a handler that the node's container runtime has not loaded, so no sandbox can be made.

Why it matters: every pod of that class on the node fails, the operator's own pods among them, so the plugin and its
GPUs go too. For some seconds during an installation it is normal.
How to tell: `no runtime for "nvidia" is configured`, or with CRI-O `failed to find runtime handler nvidia`; the
node's `status.runtimeHandlers` (Kubernetes 1.30 and later) does not list it. CRI-O and cri-dockerd have no such
handler by design: they inject by CDI or hooks, and their pods name no class.
Fix: see the toolkit pod of the node; it writes the handler into the runtime's configuration and restarts it. With
CRI-O or cri-dockerd drop `runtimeClassName`.
"""

import datetime as dt

import msgspec

from lockgate.containerd.effective import Effective
from lockgate.diagnosis.node_start import is_handler_due
from lockgate.diagnosis.remedies import see_toolkit
from lockgate.diagnosis.rule import Failed, Passed, Skipped, rule
from lockgate.diagnosis.seen import event, listed, pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_two import GateTwo, NodeGate
from lockgate.diagnosis.views.handler import NeededHandler
from lockgate.diagnosis.views.loaded import CONTAINERD
from lockgate.diagnosis.views.operands import OperandPod, Operands
from lockgate.diagnosis.waits import BEFORE_HANDLER, waits_of
from lockgate.diagnosis.ways import UNSEEN, read_node
from lockgate.model.facts import Events, Missing, RuntimeClasses, Snapshot
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import Event, Node, Pod


@rule(
    codes=("E01", "E09"),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.NODE),
    asks_gpu=None,
    mutes=("operands/init-waits", "operands/starting", "operator/policy-not-ready"),
)
def handler_missing(
    pod: Pod,
    gate_two: GateTwo,
    handler: NeededHandler,
    runtime_classes: RuntimeClasses | Missing,
    events: Events | Missing,
    node: Node | Missing,
    operands: Operands,
    snapshot: Snapshot,
) -> Failed | Passed | Skipped | None:
    asked_of_node = not isinstance(node, Missing)
    if not handler.name or (not isinstance(node, Missing) and not is_gpu_node(node)):
        return None
    gate = gate_two.on(pod.spec.node_name)
    if handler.refused is None and gate.loaded is None:
        if asked_of_node and gate.is_unread:
            return None  # told once for all rules about the node
        # Most pods need no handler: of a node it is asked only in case.
        return Skipped(_unknown(gate), read_node(gate.name), decides=not asked_of_node)
    if handler.refused is None and gate.loaded is not None and handler.name in gate.loaded.names:
        if isinstance(events, Missing):
            return None  # a newer refusal would stand there
        return Passed(f"handler {handler.name} is loaded on {pod.spec.node_name}")
    failed = _failed(pod, handler, gate, runtime_classes)
    of_operand = asked_of_node or bool(operands.name_of(pod))
    return msgspec.structs.replace(failed, spares=_spared(operands.on(gate.name), of_operand, snapshot.taken_at))


def _spared(here: tuple[OperandPod, ...], of_operand: bool, now: dt.datetime | None) -> tuple[str, ...]:
    """What comes before the handler has its turn does not follow from it, nor do operands from that of other pods."""
    early = any(wait.awaited in BEFORE_HANDLER for wait in waits_of(here))
    holds = of_operand and now is not None and is_handler_due(here, now)
    return (*(("operands/init-waits",) if early else ()), *(() if holds else ("operands/starting",)))


def _unknown(gate: NodeGate) -> str:
    return UNSEEN if gate.is_unread else f"what handlers {gate.name} has loaded is not known"


def _failed(pod: Pod, needed: NeededHandler, gate: NodeGate, classes: RuntimeClasses | Missing) -> Failed:
    handler, said = needed.name, needed.refused
    without = needed.runtime not in ("", CONTAINERD)
    loaded = None if gate.loaded is None or handler in gate.loaded.names else gate.loaded.names
    has = "what it has is not known" if loaded is None else f"it has {listed(loaded)}"
    named = f"RuntimeClass {pod.spec.runtime_class_name}" if pod.spec.runtime_class_name else "The pod"
    return Failed(
        about=f"node/{gate.name}",
        codes=("E09",) if without else ("E01",),
        summary=f'{named} needs handler "{handler}" on {gate.name}; {has}.{_by_design(needed.runtime)}',
        evidence=tuple(_evidence(pod, handler, gate, said, classes)),
        remedy=_remedies(gate.name, without),
    )


def _by_design(runtime: str) -> str:
    return "" if runtime in ("", CONTAINERD) else f" {runtime} needs no such handler: it injects by CDI or hooks."


def _remedies(node: str, without: bool) -> tuple[Remedy, ...]:
    toolkit = see_toolkit(
        node, f"See whether the toolkit runs on {node}: it configures the handler, and its log says why not"
    )
    drop = Remedy("Drop runtimeClassName from the pod: GPUs reach it by CDI without one", "", Risk.LOW)
    return (drop, toolkit) if without else (toolkit, drop)


def _evidence(
    pod: Pod, handler: str, gate: NodeGate, said: Event | None, classes: RuntimeClasses | Missing
) -> list[Evidence]:
    found = [event(said)] if said else []
    if pod.spec.runtime_class_name and pod.name:
        found.append(Evidence(object=pod_ref(pod), field="spec.runtimeClassName", value=pod.spec.runtime_class_name))
    if not isinstance(classes, Missing):
        own = [c for c in classes if c.name == pod.spec.runtime_class_name]
        found += [Evidence(object=f"runtimeclass/{c.name}", field="handler", value=c.handler) for c in own]
    if gate.loaded:
        there = handler in gate.loaded.names
        note = f"{handler} is {'there now, or this is out of date' if there else 'not among them'}"
        found.append(
            Evidence(object=gate.loaded.place, field=gate.loaded.field, value=", ".join(gate.loaded.names), note=note)
        )
    stale = said is not None and gate.is_stale(handler)
    return [*found, *(() if stale else _files(gate, handler)), *_agent(gate)]


def _files(gate: NodeGate, handler: str) -> list[Evidence]:
    """What the node's files say: defined and not loaded yet, or not defined at all."""
    effective = gate.effective
    if not isinstance(effective, Effective) or any(lost.name == handler for lost in gate.lost):
        return []
    own = effective.handlers.get(handler)
    if own is None:
        return [Evidence(file=f"{gate.name}:{gate.root}", note=f'it and its imports define no runtime "{handler}"')]
    note = f'defines runtime "{handler}": the runtime has not been restarted since'
    return [gate.quote(own.origin, note=note)]


def _agent(gate: NodeGate) -> list[Evidence]:
    """What the toolkit agent of the node says of its own work, where it did not end well."""
    runtime = gate.runtime
    if runtime is None or runtime.phase in ("", "Configured"):
        return []
    place = f"gpunodestate/{gate.name}"
    return [Evidence(object=place, field="status.runtime.phase", value=runtime.phase, verbatim=runtime.message)]
