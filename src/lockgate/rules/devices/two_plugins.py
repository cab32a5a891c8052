"""Two device plugins serve one node, and the kubelet listens to the last one.

Two DaemonSets that offer the same resource reach the node: a managed plugin of the cloud beside an operator's, a chart
installed twice, static manifests that were left behind.

Why it matters: the kubelet keeps one plugin a resource, whichever registered last. The devices of the other are
unknown to it, so pods are refused (`unknown device`), counts jump, and taking either plugin away brings the node to 0.
How to tell: two DaemonSets that run a device plugin select and tolerate the node.
Fix: keep one. Switch the cloud's plugin off on these nodes, or the operator's (`devicePlugin.enabled=false`).
"""

from lockgate.diagnosis.followers import AFTER_PLUGIN
from lockgate.diagnosis.gate_row import GateRow
from lockgate.diagnosis.rule import Failed, on_each, rule
from lockgate.diagnosis.seen import gate_row, listed
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.plugin import Plugin, PluginOn
from lockgate.model.finding import Evidence, Remedy, Risk, Severity


@rule(
    codes=("C16",),
    severity=Severity.ERROR,
    stages=(Stage.SCHEDULING, Stage.ADMISSION, Stage.NODE),
    mutes=(*AFTER_PLUGIN, "kubelet/refused"),
)
def two_plugins(gate_one: GateOne, plugin: Plugin) -> Failed | None:
    rows = [row for row in gate_one.nearest if plugin.on(row.node).besides]
    return on_each([_failed(gate_one, row, plugin.on(row.node)) for row in rows]) if rows else None


def _failed(gate: GateOne, row: GateRow, on: PluginOn) -> Failed:
    every = (on.daemon_set, *on.besides)
    return Failed(
        about=f"node/{row.node}",
        summary=f"{row.node}: reached by {listed(every)}; the last that registers wins.",
        nodes=(row.node,),
        evidence=(
            *(Evidence(object=f"daemonset/{name}", field="targets", value=row.node) for name in every),
            gate_row(gate, row),
        ),
        remedy=(
            Remedy(
                "Keep one: compare who made them, and what each serves",
                "kubectl get ds -A -o wide | grep device-plugin",
                Risk.NONE,
            ),
            Remedy("Take the other away from these nodes, then let the one that stays register again", "", Risk.HIGH),
        ),
    )
