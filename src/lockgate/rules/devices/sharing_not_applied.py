"""GPU sharing is configured and not in force on the node.

The node offers as many GPUs as it has, while its labels, or its configuration in the plugin's ConfigMap, say that each
is shared. Or the configuration that the node's label names does not exist, so that the device plugin keeps the old
one, or does not start; or the whole ConfigMap that the policy names does not exist, and the plugin's pods cannot mount
it. Or nothing chooses a configuration: neither a node's label nor the policy's default.

Why it matters: nobody watches edits of the plugin's ConfigMap. Until the plugin starts anew, or its label changes, the
old number of slots stays, and pods that were meant to share wait for whole GPUs.
How to tell: `nvidia.com/gpu.replicas`, or `replicas` in the ConfigMap that the ClusterPolicy names, says more than
one, and capacity equals `nvidia.com/gpu.count`.
Fix: name an existing configuration in `nvidia.com/device-plugin.config`, or in the policy's
`devicePlugin.config.default`; after an edit of the ConfigMap start the device plugin and feature discovery anew.
`replicas` belongs below `sharing.timeSlicing.resources`; elsewhere it is ignored without a word.
"""

import re

from lockgate.diagnosis.gate_row import SHORT_OF_DEVICES, GateRow
from lockgate.diagnosis.remedies import restart_plugin
from lockgate.diagnosis.rule import Failed, Skipped, on_each, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.views.plugin import Plugin, PluginState
from lockgate.diagnosis.views.plugin_configs import PluginConfigs, Share
from lockgate.kit.counted import agreeing, counted
from lockgate.model import names
from lockgate.model.facts import Missing, Nodes
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import Node

# k8s-device-plugin cmd/config-manager/main.go
_UNKNOWN = re.compile(r"specified config (?P<name>\S*) does not exist")


@rule(
    codes=("C13",),
    severity=Severity.WARNING,
    stages=(Stage.NODE, Stage.SCHEDULING, Stage.CLUSTER),
    mutes=("operands/plugin-gone", "operands/crashes", "operands/init-waits", "operands/starting"),
)
def sharing_not_applied(
    stage: Stage,
    node: Node | Missing,
    nodes: Nodes,
    gate_one: GateOne,
    node_words: NodeWords,
    plugin: Plugin | Missing,
    plugin_configs: PluginConfigs | Missing,
) -> Failed | Skipped | None:
    if isinstance(node, Missing):
        return None if isinstance(plugin_configs, Missing) else _of_many(stage, gate_one, nodes, plugin_configs, plugin)
    for log in node_words.operand_logs(node.name):
        if found := _UNKNOWN.search(log.text):
            where = f"log of {log.pod}/{log.container}"
            return _unknown(node, found["name"], Evidence(object=where, verbatim=found[0]))
    if not isinstance(plugin_configs, Missing) and plugin_configs.is_absent and not isinstance(plugin, Missing):
        return _absent(node, plugin_configs, plugin)
    if not isinstance(plugin_configs, Missing) and plugin_configs.lacks(node):
        return _lacks(node, plugin_configs)
    row = next(iter(gate_one.rows), None)
    if row is None or gate_one.resource != names.GPU or row.others:
        return None
    return _on_node(node, row, plugin, plugin_configs)


def _on_node(
    node: Node, row: GateRow, plugin: Plugin | Missing, configs: PluginConfigs | Missing
) -> Failed | Skipped | None:
    count, replicas = _number(node, names.GPU_COUNT), _number(node, names.GPU_REPLICAS)
    if row.capacity != count:
        return None
    if replicas > 1:
        label = Evidence(
            object=f"node/{node.name}", field=f"metadata.labels[{names.GPU_REPLICAS}]", value=str(replicas)
        )
        return _unapplied(node, row, replicas, count, plugin, (label,))
    if isinstance(configs, Missing):
        return None
    if share := configs.share_of(node):
        return _unapplied(node, row, share.replicas, count, plugin, (configs.chosen_by(node), configs.said(share)))
    lacking = configs.lacking if configs.key_of(node) else None
    return Skipped(lacking.reason, lacking.how, decides=False) if lacking else None


def _of_many(
    stage: Stage, gate: GateOne, nodes: Nodes, configs: PluginConfigs, plugin: Plugin | Missing
) -> Failed | None:
    """What is told of a pod that waits for whole GPUs, where sharing would make room, and of the whole cluster."""
    if stage is Stage.CLUSTER:
        first = next((node.name for node in nodes if is_gpu_node(node)), "")
        return _unchosen(configs.unchosen, configs, first, Severity.INFO) if configs.unchosen else None
    if not configs.shares or gate.resource != names.GPU:
        return None
    short = {r.node: r for r in gate.nearest if SHORT_OF_DEVICES.intersection(r.obstacles)}
    found = []
    for node in (node for node in nodes if node.name in short):
        row, count = short[node.name], _number(node, names.GPU_COUNT)
        share = configs.unchosen or configs.share_of(node)
        if share and row.capacity == count and _has_room(row, share, count):
            if configs.unchosen:
                return _unchosen(share, configs, node.name, None)
            told = (configs.chosen_by(node), configs.said(share))
            found.append(_unapplied(node, row, share.replicas, count, plugin, told))
    return on_each(found) if found else None


def _has_room(row: GateRow, share: Share, count: int) -> bool:
    """Whether the pod would fit where the GPUs are shared as configured."""
    if share.is_renamed or (share.one_each and row.asked > 1) or row.requested is None:
        return False
    return count * share.replicas - row.requested >= row.asked


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


def _absent(node: Node, configs: PluginConfigs, plugin: Plugin) -> Failed | None:
    state = plugin.on(node.name).state
    if state in (PluginState.NOT_TARGETED, PluginState.NOT_INSTALLED):
        return None
    runs = state is PluginState.RUNNING
    name = configs.place.rpartition("/")[2]
    told = "A device plugin that runs goes on until it is started anew" if runs else "The device plugin cannot start"
    return Failed(
        about=f"configmap/{configs.place}",
        severity=Severity.WARNING if runs else Severity.ERROR,
        title="The ConfigMap of the device plugin does not exist",
        summary=(
            f"ClusterPolicy {configs.policy} names ConfigMap {configs.place}, which does not exist. {told}: its pods "
            f"mount it."
        ),
        nodes=(node.name,),
        evidence=(
            Evidence(object=f"clusterpolicy/{configs.policy}", field="spec.devicePlugin.config.name", value=name),
            Evidence(object=f"configmap/{configs.place}", value="absent"),
        ),
        remedy=(
            Remedy(
                "Make it, with a configuration under each key that nodes name",
                f"kubectl create configmap {configs.as_arguments} --from-file=any=config.yaml",
                Risk.LOW,
            ),
            Remedy(
                "Or, if no configuration is wanted, take its name out of the policy (the plugins start anew)",
                f"kubectl patch clusterpolicy {configs.policy} --type json -p "
                '\'[{"op": "remove", "path": "/spec/devicePlugin/config"}]\'',
                Risk.HIGH,
            ),
        ),
    )


def _lacks(node: Node, configs: PluginConfigs) -> Failed:
    key = configs.key_of(node)
    keys = ", ".join(configs.keys or ()) or "none"
    held = Evidence(object=f"configmap/{configs.place}", field="data", value=keys, note="its keys")
    asked = configs.chosen_by(node)
    return Failed(
        about=f"node/{node.name}",
        severity=Severity.ERROR,
        title="The node asks for a device plugin configuration that does not exist",
        summary=f"{node.name}: {asked.object} asks for configuration {key}; ConfigMap {configs.place} holds {keys}.",
        evidence=(asked, held),
        remedy=(
            Remedy(
                f"Label the node with a key of the ConfigMap, or add {key} to it",
                f"kubectl get configmaps {configs.as_arguments} -o yaml",
                Risk.NONE,
            ),
        ),
    )


def _unchosen(share: Share, configs: PluginConfigs, node: str, severity: Severity | None) -> Failed:
    return Failed(
        about=f"configmap/{configs.place}",
        severity=severity,
        title="GPU sharing is configured, and nothing chooses it",
        summary=(
            f"ConfigMap {configs.place} shares each GPU by {share.replicas} under key {share.key}; no GPU node that "
            f"was read names it by {names.PLUGIN_CONFIG}, and ClusterPolicy {configs.policy} has no default."
        ),
        evidence=(
            configs.said(share),
            Evidence(object=f"clusterpolicy/{configs.policy}", field="spec.devicePlugin.config.default", value="none"),
        ),
        remedy=(
            Remedy(
                f"If all GPUs are meant to be shared, make {share.key} the default (the plugins start anew)",
                f"kubectl patch clusterpolicy {configs.policy} --type merge -p "
                f'\'{{"spec":{{"devicePlugin":{{"config":{{"default":"{share.key}"}}}}}}}}\'',
                Risk.HIGH,
            ),
            Remedy(
                "Or choose it node by node",
                f"kubectl label node {node} {names.PLUGIN_CONFIG}={share.key}",
                Risk.MEDIUM,
            ),
        ),
    )


def _unapplied(
    node: Node, row: GateRow, replicas: int, count: int, plugin: Plugin | Missing, told: tuple[Evidence, ...]
) -> Failed:
    place = f"node/{node.name}"
    return Failed(
        about=place,
        summary=(
            f"{node.name}: {counted(count, 'GPU')} shared by {replicas} {agreeing(count, 'is', 'are')} "
            f"{counted(count * replicas, 'slot')}; it offers {row.capacity}."
        ),
        nodes=(node.name,),
        evidence=(
            *told,
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
