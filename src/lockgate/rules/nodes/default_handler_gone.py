"""The node's default runtime handler is one that it does not have: nothing at all can start there.

The runtime's default handler is `nvidia`, and no such handler is configured. Often the node's image was made for
another family, or the toolkit is not installed while the configuration already names its handler.

Why it matters: every pod fails, those of the network and of the operator among them, so nothing can mend the node from
inside the cluster.
How to tell: pods that name no RuntimeClass fail with `no runtime for "nvidia" is configured`.
Fix: use the node image that has the toolkit (Karpenter: the right `amiFamily`), install the toolkit on the host, or set
the default handler back to `runc`.
"""

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.seen import event, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.handler import NeededHandler
from lockgate.diagnosis.views.own_node import label
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod

# Who made the node, and from which image it was made.
_MAKERS = ("karpenter.sh/nodepool", "karpenter.k8s.aws/ec2nodeclass", "eks.amazonaws.com/nodegroup")


@rule(
    codes=("G14",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING,),
    asks_gpu=None,
    mutes=("containerd/handler-missing", *BROKEN_NODE),
)
def default_handler_gone(
    pod: Pod, runtime_class: str | Missing, handler: NeededHandler, own_node: Node | Missing
) -> Failed | Skipped | None:
    if handler.refused is None or handler.name not in names.HANDLERS:
        return None
    if isinstance(runtime_class, Missing):
        return Skipped(runtime_class.reason, runtime_class.how)
    if runtime_class:
        return None
    node = pod.spec.node_name
    return Failed(
        about=f"node/{node}",
        summary=f'{node} runs every container with handler "{handler.name}", which it does not have.',
        evidence=(event(handler.refused), *_made_by(own_node)),
        remedy=(
            Remedy(
                f"On {node}, see the default handler and the handlers that there are",
                "containerd config dump | grep -E 'default_runtime_name|runtimes\\.'",
                Risk.NONE,
            ),
            Remedy("Replace the node by one whose image has the NVIDIA container toolkit", "", Risk.HIGH),
        ),
    )


def _made_by(node: Node | Missing) -> tuple[Evidence, ...]:
    if isinstance(node, Missing):
        return ()
    image = node.status.node_info.os_image
    seen = Evidence(object=f"node/{node.name}", field="status.nodeInfo.osImage", value=image) if image else None
    return some(*(label(node, key) for key in _MAKERS), seen)
