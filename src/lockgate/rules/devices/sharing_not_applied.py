"""GPU sharing is configured and not in force on the node.

The node offers as many GPUs as it has, while its labels say that each is shared; or the configuration that the node's
label names does not exist, so that the device plugin keeps the old one, or does not start.

Why it matters: nobody watches edits of the plugin's ConfigMap. Until the plugin starts anew, or its label changes, the
old number of slots stays, and pods that were meant to share wait for whole GPUs.
How to tell: `nvidia.com/gpu.replicas` says more than one, and capacity equals `nvidia.com/gpu.count`.
Fix: name an existing configuration in `nvidia.com/device-plugin.config`; after an edit of the ConfigMap start the
device plugin and feature discovery anew. `replicas` belongs below `sharing.timeSlicing.resources`; elsewhere it is
ignored without a word.
"""

import re

from lockgate.diagnosis.gate_row import GateRow
from lockgate.diagnosis.remedies import restart_plugin
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.views.plugin import Plugin
from lockgate.kit.counted import agreeing, counted
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node

# k8s-device-plugin cmd/config-manager/main.go
_UNKNOWN = re.compile(r"specified config (?P<name>\S*) does not exist")


@rule(
    codes=("C13",),
    severity=Severity.WARNING,
    stages=(Stage.NODE,),
    mutes=("operands/plugin-gone", "operands/crashes", "operands/init-waits"),
)
def sharing_not_applied(
    node: Node, gate_one: GateOne, node_words: NodeWords, plugin: Plugin | Missing
) -> Failed | None:
    for log in node_words.operand_logs(node.name):
        if found := _UNKNOWN.search(log.text):
            where = f"log of {log.pod}/{log.container}"
            return _unknown(node, found["name"], Evidence(object=where, verbatim=found[0]))
    row = next(iter(gate_one.rows), None)
    replicas, count = (_number(node, label) for label in (names.GPU_REPLICAS, names.GPU_COUNT))
    if row is None or gate_one.resource != names.GPU or row.others or not (replicas > 1 and count):
        return None
    return _unapplied(node, row, replicas, count, plugin) if row.capacity == count else None


def _number(node: Node, label: str) -> int:
    text = node.metadata.labels.get(label, "")
    return int(text) if text.isdecimal() else 0


def _unknown(node: Node, name: str, said: Evidence) -> Failed:
    asked = node.metadata.labels.get(names.PLUGIN_CONFIG, "")
    return Failed(
        about=f"node/{node.name}",
        severity=Severity.ERROR,
        title="The node asks for a device plugin configuration that does not exist",
        summary=f"{node.name}: {names.PLUGIN_CONFIG}={asked or name}, and the plugin's ConfigMap has no such key.",
        evidence=(
            Evidence(
                object=f"node/{node.name}", field=f"metadata.labels[{names.PLUGIN_CONFIG}]", value=asked or "absent"
            ),
            said,
        ),
        remedy=(
            Remedy(
                "Label the node with a key of the plugin's ConfigMap (ClusterPolicy spec.devicePlugin.config.name)",
                "kubectl get clusterpolicies -o jsonpath='{.items[*].spec.devicePlugin.config}'",
                Risk.NONE,
            ),
        ),
    )


def _unapplied(node: Node, row: GateRow, replicas: int, count: int, plugin: Plugin | Missing) -> Failed:
    place = f"node/{node.name}"
    return Failed(
        about=place,
        summary=(
            f"{node.name}: {counted(count, 'GPU')} shared by {replicas} {agreeing(count, 'is', 'are')} "
            f"{counted(count * replicas, 'slot')}; it offers {row.capacity}."
        ),
        evidence=(
            Evidence(object=place, field=f"metadata.labels[{names.GPU_REPLICAS}]", value=str(replicas)),
            Evidence(
                object=place, field=f"status.capacity[{names.GPU}]", value=str(row.capacity), note=row.arithmetic()
            ),
        ),
        remedy=(
            restart_plugin(
                node.name, plugin, f"Start the device plugin of {node.name} anew, so that it reads its configuration"
            ),
        ),
    )
