"""No node is known to have a GPU.

No node has a PCI label of node discovery, `nvidia.com/gpu.present`, or a GPU resource.

Why it matters: no pod that asks for a GPU can be placed. Without the PCI label the operator deploys nothing, and
still says `ready`.
How to tell: `kubectl get nodes -L feature.node.kubernetes.io/pci-10de.present,nvidia.com/gpu.present` has empty
columns.
Fix: where GPU nodes exist, let node feature discovery run on them: their taints need a toleration in its DaemonSet.
Else add a node with a GPU.
"""

from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import listed, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.kit.counted import counted
from lockgate.model import names
from lockgate.model.facts import DaemonSets, Missing, Nodes, Pods
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import DaemonSet, Node, Pod
from lockgate.scheduling.selectors import node_misses


@rule(
    codes=("G01", "G02", "G03"),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING, Stage.NODE, Stage.CLUSTER),
    mutes=("operator/policy-not-ready",),
)
def no_gpu_node(
    pod: Pod,
    gate_one: GateOne,
    nodes: Nodes,
    stage: Stage,
    node: Node | Missing,
    demand: Pods,
    daemon_sets: DaemonSets | Missing,
) -> Failed | Passed | None:
    if gate_one.rows or (pod.spec.node_name and stage is not Stage.NODE):
        known = counted(len(gate_one.rows), "GPU node is", "GPU nodes are")
        return Passed(f"{known} known: {listed(r.node for r in gate_one.rows)}")
    if not isinstance(node, Missing):
        nodes = (node,)
    discovered = [n for n in nodes if any(k.startswith(names.NFD_PREFIX) for k in n.metadata.labels)]
    found = (
        f"discovery has labelled {listed(n.name for n in discovered)}"
        if discovered
        else "discovery has labelled no node"
    )
    return Failed(
        about="nodes",
        severity=_severity(stage, bool(discovered) or not _is_expected(daemon_sets), bool(demand)),
        codes=("G02", "G03") if discovered else ("G01",),
        summary=f"{_lack(nodes, node, gate_one.resource)}; {found}.",
        evidence=(
            *(
                Evidence(object=f"node/{n.name}", field=f"metadata.labels[{names.PCI_PRESENT[0]}]", value="absent")
                for n in nodes[:5]
            ),
            *some(scheduler_word(pod)),
        ),
        remedy=(
            Remedy(
                "See which nodes discovery runs on; tainted nodes need a toleration",
                f"kubectl get nodes -L {names.PCI_PRESENT[0]},{names.GPU_PRESENT}",
                Risk.NONE,
            ),
        ),
    )


def _severity(stage: Stage, explained: bool, demand: bool) -> Severity | None:
    """A cluster, or a node, may well have no GPU: no fault at all where nobody waits, and nothing lacks discovery."""
    if stage not in (Stage.NODE, Stage.CLUSTER):
        return None
    return Severity.INFO if stage is Stage.CLUSTER and explained and not demand else Severity.WARNING


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
