"""The device plugin does not run on the node: its DaemonSet leaves it out.

A label or a taint keeps the DaemonSet's pod off, so nothing registers the GPUs with the kubelet. The label may be one
that takes all operands off the node: `nvidia.com/gpu.deploy.operands=false`.

Why it matters: a DaemonSet with DESIRED 0 is "ready" for every tool, the operator included, and no event is written.
How to tell: the node's labels and taints, set beside the DaemonSet's selector and tolerations.
Fix: correct the label or taint that is shown; the plugin then starts by itself, and the GPUs appear within a minute.
"""

import msgspec

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.kept_off import KeptOff, kept_off, let_tolerate, not_tolerated, set_label
from lockgate.diagnosis.node_start import is_silent
from lockgate.diagnosis.rule import Failed, Passed, Skipped, on_each, rule
from lockgate.diagnosis.seen import gate_row, label_missed, listed
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.places import Places
from lockgate.diagnosis.views.plugin import Plugin, PluginOn, PluginState, plugin_on
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.selectors import Miss
from lockgate.scheduling.taints import taint_text

# Labels that a cloud puts on its GPU nodes, and by which its own plugin chooses them.
_CLOUD = names.CLOUD_ACCELERATORS
# States of the MIG manager and of a driver upgrade in which nobody works on the node.
_PAUSE_IS_OVER = ("success", "failed", "upgrade-done", "upgrade-failed")
_DISCOVERED = (names.NFD_PREFIX, f"{names.NVIDIA_GROUP}/")


class _Out(msgspec.Struct, frozen=True):
    """The plugin where it is left out of a node, the node, and why the operator's label is not there, if that is it."""

    on: PluginOn
    node: Node
    kept: KeptOff | None


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
    pod: Pod, gate_one: GateOne, plugin: Plugin | Missing, places: Places, stage: Stage
) -> Failed | Passed | Skipped | None:
    without = [row for row in _without_devices(gate_one) if not row.for_machines]
    judged = [(row, plugin_on(plugin, places.nodes[row.node])) for row in without]
    out = [(row, _out(on, places.nodes[row.node])) for row, on in judged if on.state is PluginState.NOT_TARGETED]
    if out:
        return on_each([_failed(gate_one, row, each, plugin, stage) for row, each in out])
    if isinstance(plugin, Missing):
        return Skipped(plugin.reason, plugin.how)
    return Passed(_targeted(gate_one, plugin)) if plugin.daemon_sets and gate_one.rows else None


def _without_devices(gate: GateOne) -> tuple[GateRow, ...]:
    return gate.nearest_with(Obstacle.NO_RESOURCE, Obstacle.GONE)


def _out(on: PluginOn, node: Node) -> _Out:
    return _Out(on, node, next((kept for miss in on.misses if (kept := kept_off(miss, node))), None))


def _targeted(gate: GateOne, plugin: Plugin) -> str:
    rows = [row.node for row in gate.rows if plugin.on(row.node).state is not PluginState.NOT_TARGETED]
    name = plugin.daemon_sets[0].name
    return f"{name} targets {listed(rows) or 'no GPU node of interest'}"


def _failed(gate: GateOne, row: GateRow, out: _Out, plugin: Plugin | Missing, stage: Stage) -> Failed:
    # A node that a person left out on purpose is no fault of the cluster, only of the pod that wants it.
    meant = stage is Stage.NODE and out.kept is not None and out.kept.is_meant
    young = _is_young(row, out)
    since = " The plugin ran less than five minutes ago: the pause has just begun." if young else ""
    return Failed(
        about=f"node/{row.node}",
        codes=_codes(out),
        severity=Severity.WARNING if meant or (young and stage is Stage.NODE) else None,
        passing=young,
        title="The device plugin is paused on the node" if young else "",
        summary=f"{row.node}: {_head(out.on)}: {_why(out)}. {gate.resource} is {_offered(row)}.{since}",
        nodes=(row.node,),
        evidence=(
            *((_desired(out.on),) if out.on.daemon_set else ()),
            *_seen(out),
            gate_row(gate, row),
        ),
        remedy=tuple(_remedies(out, plugin)),
    )


def _is_young(row: GateRow, out: _Out) -> bool:
    """Whether a pause has just begun: a kubelet that lost its plugin keeps the capacity for five minutes."""
    if out.kept is None or not out.kept.progress or is_silent(out.node):
        return False
    ended = out.node.metadata.labels.get(out.kept.progress, "") in _PAUSE_IS_OVER
    return not ended and row.capacity > 0 and not row.allocatable


def _head(on: PluginOn) -> str:
    if not on.daemon_set:
        return "The operator's label keeps the device plugin off"
    return f"DaemonSet {on.daemon_set} has DESIRED {on.desired}"


def _codes(out: _Out) -> tuple[str, ...]:
    if not out.on.misses:
        return ("G04",)
    if any(miss.key in _CLOUD for miss in out.on.misses):
        return ("B11",)
    if out.kept and (out.kept.code != "G05" or out.kept.is_meant):
        return (out.kept.code,)
    if not any(out.node.metadata.labels.get(label) == "true" for label in names.PCI_PRESENT):
        return ("G01",)
    return ("G05",)


def _why(out: _Out) -> str:
    if not out.on.misses:
        return not_tolerated(out.on.taints)
    miss = out.on.misses[0]
    if out.kept and not out.on.daemon_set:
        return out.kept.why
    has = "the label is absent" if miss.seen is None else f"the node has {miss.key}={miss.seen}"
    return f"it selects {miss.wanted}, {out.kept.why if out.kept else has}"


def _offered(row: GateRow) -> str:
    if not row.known:
        return "not advertised there"
    return f"{row.allocatable} of {row.capacity} there" if row.capacity else "0 there"


def _desired(on: PluginOn) -> Evidence:
    return Evidence(object=f"daemonset/{on.daemon_set}", field="status.desiredNumberScheduled", value=str(on.desired))


def _seen(out: _Out) -> list[Evidence]:
    place, labels = f"node/{out.node.name}", out.node.metadata.labels
    wanted = [label_missed(out.node.name, miss) for miss in out.on.misses]
    beside = {out.kept.key, out.kept.progress} if out.kept else set()
    more = [
        Evidence(object=place, field=f"metadata.labels[{key}]", value=labels[key])
        for key in sorted(beside - {m.key for m in out.on.misses})
        if key in labels
    ]
    taints = [
        Evidence(
            object=place, field="spec.taints", value=taint_text(t), note=f"{out.on.daemon_set} does not tolerate it"
        )
        for t in out.on.taints
    ]
    return wanted + more + taints


def _remedies(out: _Out, plugin: Plugin | Missing) -> list[Remedy]:
    labels = [_label_remedy(out, miss) for miss in out.on.misses]
    own = () if isinstance(plugin, Missing) else plugin.daemon_sets
    return labels + [
        let_tolerate(out.on.taints, ds)
        for ds in own
        if f"{ds.namespace}/{ds.name}" == out.on.daemon_set and out.on.taints
    ]


def _label_remedy(out: _Out, miss: Miss) -> Remedy:
    if kept := kept_off(miss, out.node):
        return kept.remedy
    if miss.seen is None and miss.key in _CLOUD:
        text = "The cloud's plugin knows GPU nodes by this label: make the node in a pool with an accelerator"
        return Remedy(text, f"kubectl get nodes -L {miss.key}", Risk.NONE)
    if miss.seen is None and miss.key.startswith(_DISCOVERED):
        text = f"Discovery has not set the label: see whether it runs on {out.node.name}, and what it says"
        return Remedy(text, f"kubectl get node {out.node.name} --show-labels", Risk.NONE)
    return set_label(miss, out.node)
