"""The device plugin does not run on the node: its DaemonSet leaves it out.

A label or a taint keeps the DaemonSet's pod off, so nothing registers the GPUs with the kubelet.

Why it matters: a DaemonSet with DESIRED 0 is "ready" for every tool, the operator included, and no event is written.
How to tell: the node's labels and taints, set beside the DaemonSet's selector and tolerations.
Fix: correct the label or taint that is shown; the plugin then starts by itself, and the GPUs appear within a minute.
"""

import msgspec

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import MOST_NODES, gate_rows, listed
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.plugin import Plugin, PluginOn, PluginState
from lockgate.model import names
from lockgate.model.facts import Nodes
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.selectors import Miss
from lockgate.scheduling.taints import taint_text, toleration_for

_PAUSES = {names.PAUSED_FOR_MIG: "G06", names.PAUSED_FOR_DRIVER: "G07"}
# Labels that a cloud puts on its GPU nodes, and by which its own plugin chooses them.
_CLOUD = names.CLOUD_ACCELERATORS


@rule(
    codes=("G01", "G04", "G05", "G06", "G07", "B11"),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING, Stage.ADMISSION, Stage.NODE),
    mutes=(
        "operands/plugin-gone",
        "kubelet/refused",
        "devices/unhealthy",
        "operands/left-out",
        "operator/policy-not-ready",
        "autoscaling/node-not-initialized",
    ),
)
def plugin_not_targeted(
    pod: Pod, gate_one: GateOne, plugin: Plugin, nodes: Nodes, stage: Stage
) -> Failed | Passed | None:
    without = [row for row in _without_devices(gate_one) if not row.for_machines]
    rows = [row for row in without if plugin.on(row.node).state is PluginState.NOT_TARGETED]
    if not rows:
        return Passed(_targeted(gate_one, plugin)) if plugin.daemon_sets and gate_one.rows else None
    failed = _failed(gate_one, rows, [plugin.on(row.node) for row in rows], {n.name: n for n in nodes})
    # A node that a person left out on purpose is no fault of the cluster, only of the pod that wants it.
    meant = stage is Stage.NODE and any(miss.seen == "false" for miss in plugin.on(rows[0].node).misses)
    return msgspec.structs.replace(failed, severity=Severity.WARNING) if meant else failed


def _without_devices(gate: GateOne) -> tuple[GateRow, ...]:
    return gate.nearest_with(Obstacle.NO_RESOURCE, Obstacle.GONE)


def _targeted(gate: GateOne, plugin: Plugin) -> str:
    rows = [row.node for row in gate.rows if plugin.on(row.node).state is not PluginState.NOT_TARGETED]
    name = plugin.daemon_sets[0].name
    return f"{name} targets {listed(rows) or 'no GPU node of interest'}"


def _failed(gate: GateOne, rows: list[GateRow], judged: list[PluginOn], nodes: dict[str, Node]) -> Failed:
    first = judged[0]
    desired = f"DaemonSet {first.daemon_set} has DESIRED {first.desired}"
    return Failed(
        about=f"node/{first.node}" if len(rows) == 1 else "nodes",
        codes=_codes(first, nodes[first.node]),
        summary=f"{desired}: {_why(first)} ({listed(j.node for j in judged)}). {gate.resource} is {_offered(rows[0])}.",
        reach=len(rows),
        evidence=(
            Evidence(
                object=f"daemonset/{first.daemon_set}", field="status.desiredNumberScheduled", value=str(first.desired)
            ),
            *(e for j in judged[:MOST_NODES] for e in _seen(j)),
            *gate_rows(gate, rows),
        ),
        remedy=tuple(_remedies(first)),
    )


def _codes(judged: PluginOn, node: Node) -> tuple[str, ...]:
    values = [m.seen for m in judged.misses]
    paused = [_PAUSES[v] for v in values if v in _PAUSES]
    if paused:
        return tuple(paused)
    if any(miss.key in _CLOUD for miss in judged.misses):
        return ("B11",)
    if judged.misses and not any(node.metadata.labels.get(label) == "true" for label in names.PCI_PRESENT):
        return ("G01",)
    return ("G05",) if judged.misses else ("G04",)


def _why(judged: PluginOn) -> str:
    if judged.misses:
        miss = judged.misses[0]
        has = "the label is absent" if miss.seen is None else f"the node has {miss.key}={miss.seen}"
        return f"it selects {miss.wanted}, {has}"
    return f"it does not tolerate {listed(map(taint_text, judged.taints))}"


def _offered(row: GateRow) -> str:
    if not row.known:
        return "not advertised there"
    return f"{row.allocatable} of {row.capacity} there" if row.capacity else "0 there"


def _seen(judged: PluginOn) -> list[Evidence]:
    place = f"node/{judged.node}"
    labels = [
        Evidence(object=place, field=f"metadata.labels[{m.key}]", value=m.seen or "absent", note=f"wanted {m.wanted}")
        for m in judged.misses
    ]
    taints = [
        Evidence(
            object=place, field="spec.taints", value=taint_text(t), note=f"{judged.daemon_set} does not tolerate it"
        )
        for t in judged.taints
    ]
    return labels + taints


def _remedies(judged: PluginOn) -> list[Remedy]:
    return [_label_remedy(judged, miss) for miss in judged.misses] + [
        Remedy(
            f"Add the toleration to the ClusterPolicy (spec.daemonsets.tolerations): key {toleration_for(t).key}, "
            f"effect {t.effect}",
            "kubectl edit clusterpolicy",
            Risk.HIGH,
        )
        for t in judged.taints
    ]


def _label_remedy(judged: PluginOn, miss: Miss) -> Remedy:
    if miss.seen == names.PAUSED_FOR_MIG:
        text = "The MIG manager paused it and did not come back: see its log and nvidia.com/mig.config.state"
        return Remedy(text, f"kubectl get node {judged.node} -L {names.MIG_CONFIG_STATE}", Risk.NONE)
    if miss.seen == names.PAUSED_FOR_DRIVER:
        text = "The driver manager paused it and did not come back: see the driver pod of the node"
        return Remedy(text, f"kubectl get node {judged.node} -L {names.UPGRADE_STATE}", Risk.NONE)
    if miss.seen is None and miss.key in _CLOUD:
        text = "The cloud's plugin knows GPU nodes by this label: make the node in a pool with an accelerator"
        return Remedy(text, f"kubectl get nodes -L {miss.key}", Risk.NONE)
    if miss.seen is None:
        text = "The operator has not set the label: see whether it runs and knows the node as a GPU node"
        return Remedy(text, f"kubectl get node {judged.node} --show-labels", Risk.NONE)
    return Remedy(
        f"Set the label if the plugin is meant to run on {judged.node}",
        f"kubectl label node {judged.node} --overwrite {miss.wanted}",
        Risk.MEDIUM,
    )
