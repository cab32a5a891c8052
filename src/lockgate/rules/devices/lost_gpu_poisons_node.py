"""One lost GPU keeps pods from starting on the healthy ones of its node.

The kubelet asks the device plugin which of the free devices to take, and the plugin asks the driver about all of them.
One that does not answer (`GPU is lost`) makes the answer fail for every pod.

Why it matters: capacity and allocatable look whole, so the scheduler keeps sending pods there, and each is refused. A
controller makes thousands of failed pods in an hour.
How to tell: refused pods of the node say `GetPreferredAllocation rpc failed` and `GPU is lost`.
Fix: cordon the node, reset or replace the GPU, start the device plugin anew; then delete the failed pods.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.refusals import Refusals
from lockgate.kit.counted import counted
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node

# k8s-device-plugin internal/rm: the error of the preferred allocation (k8s-device-plugin#231)
_LOST = re.compile(r"error creating nvml\.Device (?P<index>\S+): nvml: GPU is lost")


@rule(codes=("D05",), severity=Severity.ERROR, stages=(Stage.NODE,), mutes=("kubelet/refused",))
def lost_gpu_poisons_node(node: Node, refusals: Refusals) -> Failed | None:
    struck = [(p, found) for p in refusals.on(node.name) if (found := _LOST.search(p.status.message))]
    if not struck:
        return None
    pod, found = struck[-1]
    refused = counted(len(struck), "pod was", "pods were")
    return Failed(
        about=f"node/{node.name}",
        summary=f"{node.name}: GPU {found['index']} is lost, and {refused} refused for it.",
        evidence=(
            Evidence(object=pod_ref(pod), field="status.message", verbatim=pod.status.message, note=pod.status.reason),
        ),
        remedy=(
            Remedy("Keep new pods away until it is mended", f"kubectl cordon {node.name}", Risk.MEDIUM),
            Remedy(
                f"On {node.name}, see what the kernel says of the GPU; reset it, or have it replaced",
                "dmesg | grep -iE 'NVRM|Xid' | tail; nvidia-smi",
                Risk.NONE,
            ),
        ),
    )
