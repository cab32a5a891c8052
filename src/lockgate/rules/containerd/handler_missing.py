"""The runtime handler is not configured on the node.

The pod's RuntimeClass names a handler that the node's container runtime has not loaded, so no sandbox can be made.

Why it matters: every pod of that class on the node fails, the operator's own pods among them, so the plugin and its
GPUs go too. For some seconds during an installation it is normal.
Fix: see the toolkit pod of the node; it writes the handler into the runtime's configuration and restarts it.
"""

import re

from lockgate.diagnosis.rule import Failed, Passed, Skipped, rule
from lockgate.diagnosis.seen import event, listed, pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_two import GateTwo, NodeGate
from lockgate.model.facts import Events, Missing, RuntimeClasses
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Event, Pod

# containerd 1.x and 2.x, CRI-O, cri-dockerd, in this order.
_TEXTS = (
    re.compile(r'no runtime for "(?P<handler>[^"]*)" is configured'),
    re.compile(r"failed to find runtime handler (?P<handler>\S+) from runtime list"),
    re.compile(r'RuntimeHandler "(?P<handler>[^"]*)" not supported'),
)


@rule(codes=("E01",), severity=Severity.BLOCKER, stages=(Stage.CREATING,), asks_gpu=None)
def handler_missing(
    pod: Pod, gate_two: GateTwo, pod_events: Events | Missing, runtime_classes: RuntimeClasses | Missing
) -> Failed | Passed | Skipped | None:
    said = None if isinstance(pod_events, Missing) else _last_said(pod_events)
    asked = said[1] if said else _handler(pod, runtime_classes)
    if not asked:
        return None
    gate = gate_two.on(pod.spec.node_name)
    if gate.loaded is None and said is None:
        return Skipped(f"what handlers {pod.spec.node_name} has loaded is not known", gate_two.how)
    if said is None and gate.loaded is not None and asked in gate.loaded.names:
        return Passed(f"handler {asked} is loaded on {pod.spec.node_name}")
    return _failed(pod, asked, gate, said[0] if said else None, runtime_classes)


def _last_said(events: Events) -> tuple[Event, str] | None:
    for seen in reversed(events):
        found = next((m for text in _TEXTS if (m := text.search(seen.text))), None)
        if found is not None:
            return seen, found["handler"]
    return None


def _handler(pod: Pod, classes: RuntimeClasses | Missing) -> str:
    if not pod.spec.runtime_class_name or isinstance(classes, Missing):
        return ""
    return next((c.handler for c in classes if c.name == pod.spec.runtime_class_name), "")


def _failed(pod: Pod, handler: str, gate: NodeGate, said: Event | None, classes: RuntimeClasses | Missing) -> Failed:
    has = f"it has {listed(gate.loaded.names)}" if gate.loaded else "what it has is not known"
    named = f"RuntimeClass {pod.spec.runtime_class_name}" if pod.spec.runtime_class_name else "The pod"
    return Failed(
        about=f"node/{gate.name}",
        summary=f'{named} needs handler "{handler}" on {gate.name}; {has}.',
        evidence=tuple(_evidence(pod, handler, gate, said, classes)),
        remedy=(
            Remedy(
                f"See what the toolkit on {gate.name} says; it configures the handler",
                "kubectl get pods -A -o wide -l app=nvidia-container-toolkit-daemonset",
                Risk.NONE,
            ),
            Remedy("Or drop runtimeClassName from the pod: GPUs reach it by CDI without one", "", Risk.LOW),
        ),
    )


def _evidence(
    pod: Pod, handler: str, gate: NodeGate, said: Event | None, classes: RuntimeClasses | Missing
) -> list[Evidence]:
    found = [event(said)] if said else []
    if pod.spec.runtime_class_name:
        found.append(Evidence(object=pod_ref(pod), field="spec.runtimeClassName", value=pod.spec.runtime_class_name))
    if not isinstance(classes, Missing):
        own = [c for c in classes if c.name == pod.spec.runtime_class_name]
        found += [Evidence(object=f"runtimeclass/{c.name}", field="handler", value=c.handler) for c in own]
    if gate.loaded:
        note = f"{handler} is {'there now' if handler in gate.loaded.names else 'not among them'}"
        found.append(
            Evidence(object=gate.loaded.place, field=gate.loaded.field, value=", ".join(gate.loaded.names), note=note)
        )
    if gate.root and not gate.lost:
        found.append(Evidence(file=f"{gate.name}:{gate.root}", note=f'defines no runtime "{handler}"'))
    return found
