"""The device plugin is not serving: the kubelet lost it, or never met it.

The plugin tells the kubelet which GPUs there are. When their connection ends, the kubelet calls every device
unhealthy at once (allocatable 0), and after five minutes, or when it starts anew, sets capacity to 0 as well. The
resource's name stays on the node.

Why it matters: GPU pods that run keep running, and nothing new starts; the event says the same `Insufficient
nvidia.com/gpu` as for a full node.
How to tell: capacity n and allocatable 0: lost within the last five minutes. Capacity 0 and allocatable 0: lost
longer ago. No such name on the node: no plugin ever registered there. The state of its pod says the rest. A node whose
GPUs a driver offers to claims (dynamic resource allocation) needs no plugin; of one that was removed the name stays.
Fix: find out why the plugin's pod does not run or does not register; once it does, the GPUs come back by themselves.
"""

from typing import Final

import msgspec

from lockgate.diagnosis.device_plugins import named_plugin
from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.remedies import find_plugin
from lockgate.diagnosis.rule import Failed, Passed, on_each, rule
from lockgate.diagnosis.seen import gate_row, listed, log_lines
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.claims import offered_on
from lockgate.diagnosis.views.devices import Devices
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.places import Places
from lockgate.diagnosis.views.plugin import Plugin, PluginOn, PluginState, plugin_on
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.diagnosis.views.published import Published
from lockgate.diagnosis.ways import log_command
from lockgate.model.facts import Missing, ResourceSlices
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.node_state import GPUNodeState
from lockgate.model.objects import Pod

_READY: Final = {PluginState.RUNNING: "Ready", PluginState.UNKNOWN: "not shown"}


@rule(
    codes=("C04", "C03", "C05", "I01"),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING, Stage.ADMISSION, Stage.NODE),
    mutes=(
        "kubelet/refused",
        "operands/resources-not-seen",
        "operator/policy-not-ready",
        "autoscaling/node-not-initialized",
    ),
)
def plugin_gone(
    pod: Pod,
    gate_one: GateOne,
    plugin: Plugin | Missing,
    places: Places,
    devices: Devices,
    pod_logs: PodLogs | Missing,
    published: Published,
    resource_slices: ResourceSlices | Missing,
    stage: Stage,
) -> Failed | Passed | None:
    without = gate_one.nearest_with(Obstacle.NO_RESOURCE, Obstacle.GONE)
    here = {row.node: places.nodes[row.node] for row in without}
    on = {name: plugin_on(plugin, node) for name, node in here.items()}
    # A node that offers other GPU resources has a plugin that serves.
    lost = [r for r in without if (r.known or _is_broken(on[r.node])) and not r.others and not devices.explain(r)]
    lost = [r for r in lost if not _is_by_claims(r, on[r.node], resource_slices)]
    if stage is Stage.NODE:  # seen from the node, what keeps the plugin away is the fault, and told by its own rule
        lost = [r for r in lost if on[r.node].state is not PluginState.NOT_TARGETED]
    if lost:
        judged = [(row, _named(on[row.node], named_plugin(here[row.node]))) for row in lost]
        return on_each([_failed(gate_one, row, it, pod_logs, published.get(row.node)) for row, it in judged])
    serving = [r.node for r in gate_one.rows if r.allocatable]
    return Passed(f"a plugin serves on {listed(serving)}") if serving else None


def _named(on: PluginOn, pod: str) -> PluginOn:
    """With the plugin's pod that a description names on the node, where the pods themselves are not known."""
    return msgspec.structs.replace(on, pod=pod) if pod and on.state is PluginState.UNKNOWN else on


def _is_broken(on: PluginOn) -> bool:
    return on.state in (PluginState.NOT_READY, PluginState.NO_POD)


def _is_by_claims(row: GateRow, on: PluginOn, slices: ResourceSlices | Missing) -> bool:
    """Whether claims have taken the place of a plugin that nobody wants there any more: its name stays, at 0."""
    unwanted = on.state in (PluginState.NOT_INSTALLED, PluginState.NOT_TARGETED)
    return unwanted and not row.capacity and bool(offered_on(slices, row.node))


def _before_it(state: GPUNodeState) -> list[Evidence]:
    """What must work before the plugin can, and does not, as the node's agents publish it: driver, then validations."""
    place, driver = f"gpunodestate/{state.name}", state.status.driver
    found = (
        [Evidence(object=place, field="status.driver.error", verbatim=driver.error)] if driver and driver.error else []
    )
    steps = state.status.validation.steps if state.status.validation else ()
    broken = next((step for step in steps if not step.ready and step.name != "plugin"), None)
    if broken is not None:
        field = f"status.validation.steps[{broken.name}].ready"
        found.append(Evidence(object=place, field=field, value="false", verbatim=broken.message))
    return found


def _failed(gate: GateOne, row: GateRow, on: PluginOn, logs: PodLogs | Missing, state: GPUNodeState | None) -> Failed:
    return Failed(
        about=f"node/{row.node}",
        codes=_codes(row, on),
        title=_title(row, on),
        summary=f"{row.node}: {_numbers(row)}. {_plugin(on)}",
        nodes=(row.node,),
        evidence=(
            gate_row(gate, row),
            *(_before_it(state) if state else ()),
            *_seen(on),
            *(log_lines(on.pod, logs) if on.pod else ()),
        ),
        remedy=tuple(_remedies(on)),
    )


def _codes(row: GateRow, on: PluginOn) -> tuple[str, ...]:
    if _is_either(row, on):
        return ("C04", "C07")
    if row.known:
        return ("C04",)
    return ("I01",) if "init container" in on.why_not or "PodInitializing" in on.why_not else ("C03",)


def _is_either(row: GateRow, on: PluginOn) -> bool:
    """Whether the plugin may run without a healthy device: it lost the kubelet, or it calls them so itself."""
    return bool(row.capacity) and on.state in (PluginState.RUNNING, PluginState.UNKNOWN)


def _title(row: GateRow, on: PluginOn) -> str:
    if _is_either(row, on):
        serves = "runs" if on.state is PluginState.RUNNING else "died, or calls every device unhealthy"
        return f"The device plugin {serves}, and the kubelet has no healthy device of it"
    if row.capacity:
        return "The device plugin died: its devices are unhealthy for the kubelet"
    return (
        "The device plugin is gone, and the kubelet has forgotten it"
        if row.known
        else "The device plugin does not start"
    )


def _numbers(row: GateRow) -> str:
    if row.capacity:
        return f"capacity {row.capacity}, allocatable 0: what a kubelet says for five minutes after it lost the plugin"
    if row.known:
        return "capacity 0, the key still there: a plugin was here, gone over five minutes or since the kubelet started"
    return "the resource was never advertised"


def _plugin(on: PluginOn) -> str:
    match on.state:
        case PluginState.NOT_INSTALLED:
            return "There is no device plugin DaemonSet in the cluster."
        case PluginState.NOT_TARGETED:
            return f"DaemonSet {on.daemon_set} does not target the node."
        case PluginState.NO_POD:
            return f"DaemonSet {on.daemon_set} targets the node and has no pod there."
        case PluginState.NOT_READY:
            return f"Its pod {on.pod}: {on.why_not}."
        case PluginState.RUNNING:
            return (
                f"Its pod {on.pod} runs: either it has lost the kubelet (it did not register again), "
                "or it calls every device unhealthy; its log decides."
            )
        case PluginState.UNKNOWN:
            there = f"Its pod {on.pod} is there, and its state is not shown" if on.pod else "Its pods are not known"
            return f"{there}: it has lost the kubelet, or calls every device unhealthy; its state and its log decide."


def _seen(on: PluginOn) -> tuple[Evidence, ...]:
    if on.pod:
        value = _READY.get(on.state, "not Ready")
        return (Evidence(object=f"pod/{on.pod}", field="status", value=value, verbatim=on.why_not),)
    if on.daemon_set:
        place = f"daemonset/{on.daemon_set}"
        return (
            Evidence(object=place, field="status.desiredNumberScheduled", value=str(on.desired), note=on.state.value),
        )
    return ()


def _remedies(on: PluginOn) -> list[Remedy]:
    if on.state is PluginState.NOT_INSTALLED:
        return [Remedy("Install a GPU operator or a device plugin", "helm install lockgate ...", Risk.MEDIUM)]
    if on.state is PluginState.UNKNOWN and not on.daemon_set:
        return _look(on)
    if not on.pod:
        where = on.daemon_set.partition("/")[0]
        command = f"kubectl get ds,pods -n {where} -o wide" if where else "kubectl get ds,pods -A -o wide"
        return [Remedy(f"Look at the plugin's DaemonSet and pods on {on.node}", command, Risk.NONE)]
    namespace, _, name = on.pod.partition("/")
    return [
        Remedy("Read the plugin's log", log_command(namespace, name), Risk.NONE),
        Remedy("Let it start again and register", f"kubectl delete pod -n {namespace} {name}", Risk.MEDIUM),
    ]


def _look(on: PluginOn) -> list[Remedy]:
    """What decides where the plugin's pod is not known, or by its name alone."""
    if not on.pod:
        text = f"Find the device plugin's pod on {on.node}: its state and its log decide"
        return [Remedy(text, find_plugin(on.node), Risk.NONE)]
    namespace, _, name = on.pod.partition("/")
    log = f"kubectl get pod -n {namespace} {name}; {log_command(namespace, name)}"
    return [Remedy("See whether the plugin's pod is ready, and read its log", log, Risk.NONE)]
