"""No node is known to have a GPU, and the device plugin that would show them does not work.

A plugin that was installed without node discovery runs on every node that its DaemonSet targets, and what it finds is
all that tells of GPUs. Where it crashes, or finds no device, nobody knows which of its nodes have some.

Why it matters: discovery is not to blame where none is installed; the plugin's own log tells what it misses.
How to tell: no node has a label of discovery or of a cloud, and a pod of the device plugin is there and not ready, or
its log says `No devices found`. A pod that was made less than five minutes ago is still on its way.
Fix: on a node that has a GPU make the driver work and let the container runtime hand it to the plugin
(`runtimeClassName: nvidia`); keep the plugin off the others by a node selector.
"""

import re
from typing import Final

from lockgate.diagnosis.autoscaler import coming
from lockgate.diagnosis.plugin_start import starting
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import MOST_NODES, listed, log_lines, more_nodes
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.places import Places
from lockgate.diagnosis.views.plugin import Plugin, PluginOn, PluginState
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.diagnosis.ways import log_command
from lockgate.model.facts import Events, Missing, Pods, Snapshot
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import Node, Pod

# k8s-device-plugin 0.13 to 0.19: cmd/nvidia-device-plugin, internal/rm.
_NO_DRIVER: Final = re.compile(r"nvml init failed|[Ff]ailed to initialize NVML")
_NO_DEVICE: Final = re.compile(
    r"No devices found|did you configure the NVIDIA Container Toolkit|Incompatible (?:platform|strategy) detected"
)


@rule(
    codes=("C03", "C02"),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING, Stage.NODE, Stage.CLUSTER),
    mutes=("discovery/no-gpu-node", "operator/policy-not-ready"),
)
def plugin_down(
    pod: Pod,
    stage: Stage,
    node: Node | Missing,
    places: Places,
    plugin: Plugin | Missing,
    pod_logs: PodLogs | Missing,
    demand: Pods,
    pod_events: Events | Missing,
    snapshot: Snapshot,
) -> Failed | None:
    if isinstance(plugin, Missing):
        return None
    known = (is_gpu_node(node),) if not isinstance(node, Missing) else places.with_gpus
    events = () if isinstance(pod_events, Missing) else pod_events
    if any(known) or (pod.spec.node_name and stage is not Stage.NODE) or coming(events, snapshot.taken_at):
        return None
    nodes = [node.name] if not isinstance(node, Missing) else sorted(plugin.rows)
    young = {on.node for on in starting(plugin, nodes, snapshot.events, snapshot.taken_at)}
    there = [plugin.on(name) for name in nodes if name not in young]
    down = [on for on in there if on.state is PluginState.NOT_READY and on.pod]
    idle = [on for on in there if on.state is PluginState.RUNNING and _says(on, pod_logs, _NO_DEVICE)]
    if not down and (young or not idle):
        return None
    unknown = f"{node.name} is not known" if not isinstance(node, Missing) and places.with_gpus else "no node is known"
    return _failed(down or idle, bool(down), unknown, pod_logs, _severity(stage, bool(down), bool(demand)))


def _severity(stage: Stage, down: bool, demand: bool) -> Severity | None:
    """A plugin that finds nothing is as it should be on a node without GPUs."""
    if stage is Stage.SCHEDULING:
        return None
    return Severity.ERROR if down else Severity.WARNING if demand else Severity.INFO


def _failed(
    there: list[PluginOn], down: bool, unknown: str, logs: PodLogs | Missing, severity: Severity | None
) -> Failed:
    first, where = there[0], listed(on.node for on in there)
    what = first.why_not if down else "it runs and finds no device"
    driver = _says(first, logs, _NO_DRIVER)
    means = " It does not get at the driver (NVML)." if driver else ""
    return Failed(
        about=f"daemonset/{first.daemon_set}",
        codes=("C03",) if driver or not _says(first, logs, _NO_DEVICE) else ("C02",),
        severity=severity,
        title=f"The device plugin {'does not run' if down else 'finds no device'}, and {unknown} to have a GPU",
        summary=f"{first.pod} on {where}: {what}.{means} No label tells whether there is a GPU.",
        reach=len(there),
        nodes=tuple(on.node for on in there),
        evidence=(
            *(e for on in there[:MOST_NODES] for e in _seen(on, logs)),
            *more_nodes(len(there) - MOST_NODES),
        ),
        remedy=_remedies(first),
    )


def _says(on: PluginOn, logs: PodLogs | Missing, words: re.Pattern[str]) -> bool:
    namespace, _, name = on.pod.partition("/")
    own = () if isinstance(logs, Missing) else logs.of(namespace, name)
    return any(words.search(log.text) for log in own)


def _seen(on: PluginOn, logs: PodLogs | Missing) -> tuple[Evidence, ...]:
    value = "Ready" if on.state is PluginState.RUNNING else "not Ready"
    return (
        Evidence(object=f"pod/{on.pod}", field="status", value=value, verbatim=on.why_not, note=f"on {on.node}"),
        *log_lines(on.pod, logs),
    )


def _remedies(on: PluginOn) -> tuple[Remedy, ...]:
    namespace, _, name = on.pod.partition("/")
    return (
        Remedy("Read the plugin's log", log_command(namespace, name), Risk.NONE),
        Remedy(
            f"On {on.node}, see whether it has a GPU and the driver knows it", "lspci -d 10de:; nvidia-smi", Risk.NONE
        ),
    )
