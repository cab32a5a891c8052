"""Node discovery names the NVIDIA device in a shape that the operator does not read.

The operator knows a GPU node by one of three labels of node feature discovery: `pci-10de.present`,
`pci-0302_10de.present` and `pci-0300_10de.present`. Discovery builds the name from `sources.pci.deviceLabelFields`:
with other fields than class and vendor it says `pci-0302_10de_20b5.present`, which nobody reads.

Why it matters: every DaemonSet of the operator has DESIRED 0, no event is written, and the policy says `ready`.
How to tell: the node has a label `pci-...10de...` and none of the three.
Fix: set deviceLabelFields to [vendor], or to [class, vendor], in discovery's configuration, or let a NodeFeatureRule
add one of the three labels.
"""

from typing import Final

from lockgate.diagnosis.gate_row import Obstacle
from lockgate.diagnosis.rule import Failed, on_each, rule
from lockgate.diagnosis.seen import listed, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.places import Places
from lockgate.model import names
from lockgate.model.facts import DaemonSets
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import DaemonSet, Node, Pod

_FIELDS: Final = "sources: {pci: {deviceLabelFields: [vendor]}}"
_READ: Final = ", ".join(label.removeprefix(names.NFD_PREFIX) for label in names.PCI_PRESENT)


@rule(
    codes=("G03",),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING, Stage.NODE),
    mutes=("operands/plugin-not-targeted", "operands/left-out", "operator/policy-not-ready"),
)
def pci_label_shape(pod: Pod, gate_one: GateOne, places: Places, daemon_sets: DaemonSets) -> Failed | None:
    waiting = [d for d in daemon_sets if _waits(d)]
    bare = (places.nodes[row.node] for row in gate_one.nearest_with(Obstacle.NO_RESOURCE))
    lost = [n for n in bare if _shapes(n) and not names.is_labelled(n.metadata.labels)]
    return on_each([_failed(pod, node, waiting) for node in lost]) if waiting and lost else None


def _waits(daemon_set: DaemonSet) -> bool:
    """Whether it goes where the operator's own label is, which follows discovery's."""
    return any(key.startswith(names.DEPLOY_PREFIX) for key in daemon_set.spec.template.spec.node_selector)


def _shapes(node: Node) -> list[str]:
    return [label for label in node.metadata.labels if names.is_unread_pci_label(label)]


def _failed(pod: Pod, node: Node, waiting: list[DaemonSet]) -> Failed:
    shape = _shapes(node)[0].removeprefix(names.NFD_PREFIX)
    idle = [d for d in waiting if not d.status.desired_number_scheduled]
    hidden = f"; DESIRED is 0 of {listed(d.name for d in idle)}" if idle else ""
    return Failed(
        about=f"node/{node.name}",
        summary=f"{node.name}: discovery says {shape}; the operator reads only {_READ}{hidden}.",
        nodes=(node.name,),
        evidence=(*(_seen(node, label) for label in _shapes(node)), *some(scheduler_word(pod))),
        remedy=(
            Remedy(
                f"Write in discovery's nfd-worker.conf, and restart its workers: {_FIELDS}",
                "kubectl get configmaps -A | grep -i -e nfd -e node-feature-discovery",
                Risk.LOW,
            ),
        ),
    )


def _seen(node: Node, label: str) -> Evidence:
    return Evidence(
        object=f"node/{node.name}",
        field=f"metadata.labels[{label}]",
        value=node.metadata.labels[label],
        note=f"read are {_READ}",
    )
