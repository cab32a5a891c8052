"""The operator does not know the kernel or the system of its GPU nodes.

The driver's image and its node selector are made from labels of node feature discovery (kernel version, system id and
version). A node was labelled by hand with the PCI label alone, or discovery does not publish them.

Why it matters: the operator cannot make the driver's DaemonSet, and all operands wait for it.
How to tell: the operator says so in its log; `kubectl get nodes --show-labels` lacks
`feature.node.kubernetes.io/kernel-version.full`.
Fix: let node feature discovery run on the GPU nodes instead of labels by hand.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import MOST_NODES, listed, more_nodes
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.operator_words import OperatorWords
from lockgate.model import names
from lockgate.model.facts import Missing, Nodes
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.gpu_node import is_gpu_node

# gpu-operator, controllers/object_controls.go (kernelFullVersion, resolveDriverTag).
_TEXT = re.compile(
    r"Could not find kernel full version|Couldn't get kernelVersion, did you run the node feature discovery"
    r"|different OS versions found for the same kernel version"
)
_NEEDED = (names.KERNEL_FULL, names.OS_ID, names.OS_VERSION)


@rule(codes=("G08",), severity=Severity.BLOCKER, stages=(Stage.CLUSTER,), mutes=("operator/policy-not-ready",))
def os_labels_missing(operator_words: OperatorWords, nodes: Nodes | Missing) -> Failed | None:
    said = operator_words.find(_TEXT)
    if said is None:
        return None
    lacking = _lacking(() if isinstance(nodes, Missing) else nodes)
    where = f"; they are missing on {listed(lacking)}" if lacking else ""
    return Failed(
        about="nodes",
        summary=f"The operator finds no labels of kernel and system on its GPU nodes{where}.",
        reach=max(len(lacking), 1),
        nodes=tuple(lacking),
        evidence=(
            said.evidence,
            *(
                Evidence(object=f"node/{n}", field=f"metadata.labels[{key}]", value="absent")
                for n, key in list(lacking.items())[:MOST_NODES]
            ),
            *more_nodes(len(lacking) - MOST_NODES),
        ),
        remedy=(
            Remedy(
                "See which nodes discovery labels, and where its workers run",
                f"kubectl get nodes -L {names.KERNEL_FULL},{names.OS_ID}; kubectl get pods -A -o wide | grep -i"
                " -e node-feature-discovery -e discovery",
                Risk.NONE,
            ),
        ),
    )


def _lacking(nodes: Nodes) -> dict[str, str]:
    """GPU nodes without one of the labels, and the first that lacks."""
    own = ((n.name, [key for key in _NEEDED if key not in n.metadata.labels]) for n in nodes if is_gpu_node(n))
    return {name: lacking[0] for name, lacking in own if lacking}
