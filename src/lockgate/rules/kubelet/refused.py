"""The kubelet refused the pod when it arrived on its node.

The scheduler (or a `nodeName` in the spec) chose the node, and the kubelet found that it cannot give what is asked.

Why it matters: such a pod stays Failed for good; a controller makes a new one, often into the same trap, again and
again.
How to tell: the pod's phase is Failed, its reason UnexpectedAdmissionError, OutOf... or TopologyAffinityError, and no
container ever ran.
Fix: mend what the text names, then delete the pod; never pin GPU pods with `spec.nodeName`, which passes the
scheduler by.
"""

from lockgate.accounting.texts import (
    EndpointStopped,
    NoneHealthy,
    OutOf,
    PluginFailed,
    RecordedUnhealthy,
    Refusal,
    TooFewFree,
    TopologyRefused,
    UnknownPlugin,
    Unregistered,
    parse_refusal,
)
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import gate_rows, holders, pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod, PodSpec

# What a plugin's own error says: a part of its text, the catalogue's code, and what it means.
_PLUGIN_ERRORS = (
    ("maximum request size for shared resources", "D06", "its GPUs are shared and give one slot a pod"),
    ("device number not matched", "D11", "HAMi or Volcano assigned it another number of devices than it asks for"),
    ("unknown device", "D07", "the kubelet holds a device that the plugin does not know"),
    ("GPU is lost", "D05", "one lost GPU keeps the plugin from choosing among the others"),
    ("GetPreferredAllocation", "D05", "the plugin could not choose among its devices"),
)


@rule(
    codes=("D01", "D02", "D03", "D04", "D05", "D06", "D07", "D08", "D09", "D10", "D11"),
    severity=Severity.BLOCKER,
    stages=(Stage.ADMISSION,),
    asks_gpu=None,
)
def refused(pod: Pod, spec: PodSpec | Missing, gate_one: GateOne | Missing) -> Failed | None:
    said = pod.status.message
    refusal = parse_refusal(pod.status.reason, said)
    if refusal is None or (refusal.resource and not names.is_gpu_resource(refusal.resource)):
        return None  # not for a device, or for one that is no GPU
    codes, meaning = _meaning(refusal, pod.spec.node_name or "the node")
    gate = None if isinstance(gate_one, Missing) or not gate_one.asked else gate_one
    return Failed(
        about=pod_ref(pod),
        codes=codes,
        summary=f"{pod.status.reason}: {meaning or said}.{_now(gate)}",
        evidence=(
            Evidence(object=pod_ref(pod), field="status.message", verbatim=said, note=f"reason {pod.status.reason}"),
            *(gate_rows(gate, gate.rows) if gate else ()),
            *_pinned(pod, spec),
        ),
        remedy=(
            Remedy(
                "A refused pod never runs; delete it once the cause is mended",
                f"kubectl delete pod -n {pod.namespace} {pod.name}",
                Risk.LOW,
            ),
        ),
    )


def _meaning(refusal: Refusal, node: str) -> tuple[tuple[str, ...], str]:
    """The catalogue's codes for a refusal, and what it means; nothing for words that are not known."""
    match refusal:
        case TooFewFree(r, requested, available):
            return ("D01",), f"{node} had {available} of {r} to hand out, {requested} asked for"
        case NoneHealthy(r):
            return ("D02",), f"every {r} of {node} was unhealthy, or its plugin had not registered yet"
        case Unregistered(r) | UnknownPlugin(r):
            return ("D03",), f"no device plugin for {r} is registered with the kubelet of {node}"
        case RecordedUnhealthy(r):
            return ("D04",), f"the {r} that it had on {node} is no longer healthy"
        case OutOf(r, requested, used, capacity):
            return ("D08",), f"{node} has {capacity} of {r}, {used} in use, {requested} asked for"
        case TopologyRefused():
            return ("D09",), f"no one socket of {node} has enough free devices"
        case PluginFailed(_, call, error):
            return _plugin_error(f"{call} {error}", node)
        case EndpointStopped():
            return ("D10",), f"the device plugin of {node} went away while it handed out devices"
        case _:
            return (), ""


def _plugin_error(text: str, node: str) -> tuple[tuple[str, ...], str]:
    known = next((row for row in _PLUGIN_ERRORS if row[0] in text), None)
    if known is None:
        return ("D10",), f"the device plugin of {node} failed while it handed out devices"
    return (known[1],), f"the device plugin of {node} refused: {known[2]}"


def _now(gate: GateOne | None) -> str:
    row = gate.rows[0] if gate and gate.rows else None
    if row is None or not row.known:
        return ""
    return f" Now {row.node} has {row.arithmetic()}{holders(row)}."


def _pinned(pod: Pod, spec: PodSpec | Missing) -> tuple[Evidence, ...]:
    """A pod that no scheduler placed has no PodScheduled condition."""
    if isinstance(spec, Missing) or any(c.type == "PodScheduled" for c in pod.status.conditions):
        return ()
    note = "set in the spec: the scheduler was passed by, and nothing counted before the kubelet"
    return (Evidence(object=pod_ref(pod), field="spec.nodeName", value=spec.node_name, note=note),)
