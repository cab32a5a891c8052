"""The device plugin runs and offers no device.

Its pod is ready, and the node has never had the resource: it found no GPU, or it did not reach the kubelet.

Why it matters: a plugin that finds nothing waits without an error, and its pod is Running and Ready.
How to tell: its pod is Ready, and the node's capacity has never had the resource.
Fix: read its log. No NVML or no device: the driver or the plugin's own runtime class. No registration: restart it.
"""

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.rule import Failed, on_each, rule
from lockgate.diagnosis.seen import gate_row, log_lines
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.devices import Devices
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.plugin import Plugin, PluginOn, PluginState
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.diagnosis.ways import log_command
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod


@rule(
    codes=("C02", "C05"),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING, Stage.NODE),
    mutes=("operands/resources-not-seen", "operator/policy-not-ready", "autoscaling/node-not-initialized"),
)
def plugin_idle(
    pod: Pod, gate_one: GateOne, plugin: Plugin, devices: Devices, pod_logs: PodLogs | Missing
) -> Failed | None:
    rows = [
        r
        for r in gate_one.nearest_with(Obstacle.NO_RESOURCE)
        if not r.known and not r.others and plugin.on(r.node).state is PluginState.RUNNING
    ]
    return on_each([_failed(gate_one, row, plugin.on(row.node), devices, pod_logs) for row in rows]) if rows else None


def _failed(gate: GateOne, row: GateRow, on: PluginOn, devices: Devices, logs: PodLogs | Missing) -> Failed:
    said = [*_published(row, devices), *log_lines(on.pod, logs)]
    namespace, _, name = on.pod.partition("/")
    words = said[0].verbatim.rstrip(".") if said else ""
    why = f"it says: {words}" if words else "its log decides whether it found no GPU or missed the kubelet"
    return Failed(
        about=f"node/{row.node}",
        summary=f"{row.node}: {on.pod} is ready, and {gate.resource} was never advertised there; {why}.",
        nodes=(row.node,),
        evidence=(Evidence(object=f"pod/{on.pod}", field="status", value="Ready"), *said, gate_row(gate, row)),
        remedy=(
            Remedy("Read the plugin's log", log_command(namespace, name), Risk.NONE),
            Remedy("Let it start again and register", f"kubectl delete pod -n {namespace} {name}", Risk.MEDIUM),
        ),
    )


def _published(row: GateRow, devices: Devices) -> list[Evidence]:
    state = devices.on(row.node)
    if state is None or not state.message:
        return []
    return [Evidence(object=f"gpunodestate/{row.node}", field="status.devices.message", verbatim=state.message)]
