"""No node is known to have a GPU.

No node has a PCI label of node discovery, `nvidia.com/gpu.present`, the accelerator label of its cloud, or a GPU
resource.

Why it matters: no pod that asks for a GPU can be placed. Without the PCI label the operator deploys nothing, and
still says `ready`.
How to tell: `kubectl get nodes -L feature.node.kubernetes.io/pci-10de.present,nvidia.com/gpu.present` has empty
columns.
Fix: where GPU nodes exist, let node feature discovery run on them: their taints need a toleration in its DaemonSet.
Else add a node with a GPU.
"""

import re
from typing import Final

from lockgate.diagnosis.autoscaler import coming
from lockgate.diagnosis.device_plugins import is_plugin
from lockgate.diagnosis.out_of_reach import OutOfReach, is_for_gpus, nearest, seen, why
from lockgate.diagnosis.plugin_start import starting
from lockgate.diagnosis.rule import Failed, Passed, Skipped, rule
from lockgate.diagnosis.seen import listed, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.events_by_object import EventsByObject
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.operator_words import OperatorWords
from lockgate.diagnosis.views.places import Places
from lockgate.diagnosis.views.plugin import Plugin
from lockgate.kit.counted import counted
from lockgate.model import names
from lockgate.model.facts import DaemonSets, Events, Missing, Nodes, Pods, Snapshot
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import DaemonSet, Node, Pod
from lockgate.scheduling.daemonsets import target
from lockgate.scheduling.selectors import node_misses

# gpu-operator 24.6 to 26.3, controllers/clusterpolicy_controller.go.
_NO_LABELS: Final = re.compile(r"NFDLabelsMissing|No NFD labels? found")
_MOST_SETS: Final = 3
_OS: Final = "kubernetes.io/os"
_DISCOVERY: Final = ("node-feature-discovery", "nfd-worker")
_LOOK: Final = Remedy(
    "See which nodes discovery runs on; tainted nodes need a toleration",
    f"kubectl get nodes -L {names.PCI_PRESENT[0]},{names.GPU_PRESENT}",
    Risk.NONE,
)


@rule(
    codes=("G01", "G02", "G03", "B11"),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING, Stage.NODE, Stage.CLUSTER),
    mutes=("operator/policy-not-ready", "discovery/operand-without-node"),
)
def no_gpu_node(
    pod: Pod,
    gate_one: GateOne | Missing,
    nodes: Nodes | Missing,
    places: Places | Missing,
    stage: Stage,
    node: Node | Missing,
    demand: Pods,
    daemon_sets: DaemonSets | Missing,
    pod_events: Events | Missing,
    events_by_object: EventsByObject | Missing,
    snapshot: Snapshot,
    operator_words: OperatorWords,
    plugin: Plugin | Missing,
) -> Failed | Passed | Skipped | None:
    if isinstance(nodes, Missing) or isinstance(gate_one, Missing):
        return _as_told(operator_words, nodes, stage)
    if gate_one.rows or (pod.spec.node_name and stage is not Stage.NODE):
        known = counted(len(gate_one.rows), "GPU node is", "GPU nodes are")
        return Passed(f"{known} known: {listed(r.node for r in gate_one.rows)}")
    word = coming(() if isinstance(pod_events, Missing) else pod_events, snapshot.taken_at)
    if word:
        return Passed(f"no GPU node is there yet, and one is on its way: {word.text}")
    if not isinstance(node, Missing):
        nodes = (node,)
    new = starting(plugin, (n.name for n in nodes), snapshot.events, snapshot.taken_at)
    if new:
        return Passed(f"a device plugin that was made just now will tell of GPUs: {listed(on.pod for on in new)}")
    discovered = [n for n in nodes if any(k.startswith(names.NFD_PREFIX) for k in n.metadata.labels)]
    out = _plugins_out_of_reach(daemon_sets, nodes)
    by_cloud = any(each.lacks_cloud_label for _, each in out)
    asked = None if isinstance(node, Missing) else node
    beside = asked is not None and not isinstance(places, Missing) and bool(places.with_gpus)
    plain = asked is not None and beside and _is_plain(asked, daemon_sets)
    explained = bool(discovered) or not _is_expected(daemon_sets)
    unserved = stage is Stage.CLUSTER and _unserved(demand, events_by_object, snapshot)
    return Failed(
        about="nodes",
        severity=Severity.INFO if plain else _severity(stage, pod_events, explained, demand, unserved),
        title=f"{asked.name} is not known to have a GPU" if asked is not None and beside else "",
        codes=("B11",) if by_cloud else ("G02", "G03") if discovered else ("G01",),
        summary=f"{_lack(nodes, node, gate_one.resource)}; {_found(discovered, out, asked)}.",
        evidence=(
            *(
                Evidence(object=f"node/{n.name}", field=f"metadata.labels[{names.PCI_PRESENT[0]}]", value="absent")
                for n in nodes[:5]
            ),
            *(e for ds, each in out[:_MOST_SETS] for e in _left_out(ds, each)),
            *some(scheduler_word(pod)),
        ),
        remedy=(_label_it(out[0][1]) if by_cloud else _LOOK,),
    )


def _as_told(words: OperatorWords, nodes: Nodes | Missing, stage: Stage) -> Failed | Skipped:
    """What the conditions of the operator's policy say where the nodes were not read."""
    said = words.find_in_conditions(_NO_LABELS)
    if said is None:
        return Skipped(nodes.reason, nodes.how) if isinstance(nodes, Missing) else Skipped("no GPU is asked for")
    return Failed(
        about="nodes",
        severity=None if stage is Stage.SCHEDULING else Severity.ERROR,
        codes=("G01",),
        title="The operator finds no label of node discovery on any node",
        summary=f"It says: {said.evidence.verbatim.rstrip('.')}. The nodes themselves were not read.",
        evidence=(said.evidence,),
        remedy=(_LOOK,),
    )


def _plugins_out_of_reach(daemon_sets: DaemonSets | Missing, nodes: Nodes) -> list[tuple[DaemonSet, OutOfReach]]:
    """The DaemonSets of device plugins that reach none of the nodes, those that a label of a cloud would mend first."""
    own = () if isinstance(daemon_sets, Missing) else (ds for ds in daemon_sets if is_plugin(ds))
    out = [(ds, each) for ds in own if (each := nearest(ds, nodes))]
    return sorted(out, key=lambda o: (not o[1].lacks_cloud_label, o[0].namespace, o[0].name))


def _left_out(daemon_set: DaemonSet, out: OutOfReach) -> tuple[Evidence, ...]:
    desired = str(daemon_set.status.desired_number_scheduled)
    place = f"daemonset/{daemon_set.namespace}/{daemon_set.name}"
    return (Evidence(object=place, field="status.desiredNumberScheduled", value=desired), *seen(out.target))


def _found(discovered: list[Node], out: list[tuple[DaemonSet, OutOfReach]], asked: Node | None) -> str:
    """What discovery did, or where the plugin goes by the label of a cloud, that one."""
    if out and (out[0][1].lacks_cloud_label or not discovered):
        daemon_set, near = out[0][0], out[0][1].target
        return f"{daemon_set.name} {_misses(daemon_set, asked)}: {why(near, alone=asked is not None)}"
    if discovered:
        return f"discovery has labelled {listed(n.name for n in discovered)}"
    return "discovery has labelled no node"


def _misses(daemon_set: DaemonSet, asked: Node | None) -> str:
    """What a DaemonSet does not reach: it may reach nodes that nobody asked about, or gave."""
    if not daemon_set.status.desired_number_scheduled:
        return "reaches no node"
    return "reaches none of these nodes" if asked is None else "does not reach this node"


def _is_plain(node: Node, daemon_sets: DaemonSets | Missing) -> bool:
    """Whether nothing speaks for GPUs of a node: a taint that keeps it for them, or one that keeps discovery off."""
    if node.metadata.labels.get(_OS) == "windows":
        return True
    sets = () if isinstance(daemon_sets, Missing) else daemon_sets
    looking = [target(ds, node) for ds in sets if any(name in ds.name for name in _DISCOVERY)]
    unseen = any(each.taints for each in looking) and not any(each.runs for each in looking)
    return not is_for_gpus(node) and not unseen


def _label_it(out: OutOfReach) -> Remedy:
    miss = next(m for m in out.target.misses if m.key in names.CLOUD_ACCELERATORS)
    return Remedy(
        f"{out.target.node} is kept for GPUs by its taint: have whoever makes such nodes set {miss.wanted}",
        f"kubectl get node {out.target.node} --show-labels",
        Risk.NONE,
    )


def _severity(
    stage: Stage, pod_events: Events | Missing, explained: bool, demand: Pods, unserved: bool
) -> Severity | None:
    """A cluster, or a node, may well have no GPU: no fault at all where nobody waits, and nothing lacks discovery.

    For a pod of which no event was read an autoscaler may be adding a node.
    """
    if stage is Stage.SCHEDULING:
        return Severity.WARNING if isinstance(pod_events, Missing) else None
    as_it_should_be = (explained or bool(demand)) and not unserved
    return Severity.INFO if stage is Stage.CLUSTER and as_it_should_be else Severity.WARNING


def _unserved(demand: Pods, events: EventsByObject | Missing, snapshot: Snapshot) -> bool:
    """Whether a pod waits for which no autoscaler is adding a node."""
    told = (() if isinstance(events, Missing) else events.of("Pod", pod) for pod in demand)
    return any(not coming(each, snapshot.taken_at) for each in told)


def _is_expected(daemon_sets: DaemonSets | Missing) -> bool:
    """Whether anything here goes by the labels of discovery; the plugin of a cloud goes by those of its pools."""
    return not isinstance(daemon_sets, Missing) and any(map(_goes_by_discovery, daemon_sets))


def _goes_by_discovery(daemon_set: DaemonSet) -> bool:
    wanted = node_misses(daemon_set.spec.template.spec, Node())
    return any(miss.key.startswith((names.NFD_PREFIX, f"{names.NVIDIA_GROUP}/")) for miss in wanted)


def _lack(nodes: Nodes, asked: Node | Missing, resource: str) -> str:
    what = f"{names.PCI_PRESENT[0]}=true or {resource}"
    if not isinstance(asked, Missing) or len(nodes) == 1:
        return f"{nodes[0].name} has no {what}"
    return f"None of {len(nodes)} nodes has {what}"
