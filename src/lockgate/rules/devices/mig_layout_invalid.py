"""The MIG layout of a node does not suit its strategy, so the device plugin offers nothing.

With the strategy `single` every GPU of a node must be partitioned, and into devices of one kind. A GPU that is left
whole, one with MIG on and no device, or two profiles side by side make the plugin stop.

Why it matters: the plugin ends in CrashLoopBackOff, the node goes to 0, and only its log says that the layout is why.
How to tell: the plugin's log says so before it ends, and feature discovery labels the product `...-MIG-INVALID`.
Fix: give all GPUs of the node one layout (`nvidia.com/mig.config`), or use the strategy `mixed`, where each profile has
a name of its own.
"""

import re

from lockgate.diagnosis.followers import AFTER_PLUGIN
from lockgate.diagnosis.gate_row import Obstacle
from lockgate.diagnosis.rule import Failed, on_each, rule
from lockgate.diagnosis.seen import gate_row
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.views.words import Words
from lockgate.model import names
from lockgate.model.facts import Missing, Nodes
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod

# k8s-device-plugin internal/rm/device_map.go, internal/lm/mig-strategy.go (feature discovery); panics of before 0.13.
_TEXT = re.compile(
    r"invalid MIG configuration: .+|all devices on the node must be configured with the same migEnabled value"
    r"|Invalid configuration detected for mig-strategy=single: .+"
    r"|panic: (?:At least one device with migEnabled=true was not configured correctly"
    r"|More than one MIG device type present on node).*"
)
_INVALID = "-MIG-INVALID"


@rule(
    codes=("C14",),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING, Stage.NODE, Stage.FAILED),
    asks_gpu=None,
    mutes=(*AFTER_PLUGIN, "scheduling/selector", "operands/plugin-not-targeted"),
)
def mig_layout_invalid(
    pod: Pod,
    stage: Stage,
    words: Words,
    gate_one: GateOne | Missing,
    node: Node | Missing,
    nodes: Nodes | Missing,
    node_words: NodeWords,
) -> Failed | None:
    if stage is Stage.FAILED:  # the plugin itself is asked about
        said = words.find(_TEXT)
        return _failed(pod.spec.node_name, (said.evidence,)) if said else None
    if isinstance(gate_one, Missing) or isinstance(nodes, Missing) or not gate_one.asked:
        return None
    without = [r for r in gate_one.rows if Obstacle.NO_RESOURCE in r.obstacles or Obstacle.GONE in r.obstacles]
    if not without:
        return None
    by_name = {n.name: n for n in ((node,) if isinstance(node, Node) else nodes)}
    found = [(row, seen) for row in without if (seen := _evidence(by_name[row.node], node_words))]
    if not any(row in gate_one.nearest for row, _ in found):
        return None
    return on_each([_failed(row.node, (*seen, gate_row(gate_one, row))) for row, seen in found])


def _failed(node: str, evidence: tuple[Evidence, ...]) -> Failed:
    why = next((e.verbatim for e in evidence if e.verbatim), "the GPUs are not partitioned alike")
    return Failed(
        about=f"node/{node}",
        summary=f"{node}: {why}. So the device plugin offers nothing.",
        nodes=(node,),
        evidence=evidence,
        remedy=(
            Remedy(
                "See how each GPU is partitioned, and what the node is meant to have",
                f"kubectl get node {node} -L {names.MIG_CONFIG},{names.MIG_CONFIG_STATE},{names.GPU_PRODUCT}",
                Risk.NONE,
            ),
            Remedy(
                "Give every GPU of the node one layout that its board has, as all-1g.5gb is one of an A100 of 40 GB "
                "(GPU pods of the node end)",
                f"kubectl label node {node} --overwrite {names.MIG_CONFIG}=NAME",
                Risk.HIGH,
            ),
        ),
    )


def _evidence(node: Node, node_words: NodeWords) -> list[Evidence]:
    product = node.metadata.labels.get(names.GPU_PRODUCT, "")
    field = f"metadata.labels[{names.GPU_PRODUCT}]"
    label = [Evidence(object=f"node/{node.name}", field=field, value=product)] if product.endswith(_INVALID) else []
    logs = [
        Evidence(object=f"log of {log.pod}/{log.container}", verbatim=match[0].strip())
        for log in node_words.operand_logs(node.name)
        if (match := _TEXT.search(log.text))
    ]
    return [*logs[:1], *label]
