"""No precompiled driver image exists for the node's kernel.

With `usePrecompiled` the image's tag carries branch, kernel and system. The node took a kernel for which NVIDIA has not
published an image yet, or never will.

Why it matters: without the driver pod every other operand of the node waits in Init, and the node offers no GPU.
How to tell: the tag in the text names the kernel; nodes that still run an older one have their driver.
Fix: boot the kernel before, and hold it; or set `driver.usePrecompiled: false`, so that modules are built on the node.
"""

from lockgate.diagnosis.driver_image import lost_driver_image
from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import listed
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.words import Words
from lockgate.model.facts import Missing, Nodes
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import Node, Pod


@rule(
    codes=("F02",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING,),
    asks_gpu=None,
    mutes=(*BROKEN_NODE, "driver/upgrade-stuck", "pod/image"),
)
def driver_kernel_not_published(pod: Pod, words: Words, nodes: Nodes | Missing) -> Failed | None:
    image = lost_driver_image(pod, words)
    if image is None or not image.kernel:
        return None
    gpu_nodes = [n for n in (() if isinstance(nodes, Missing) else nodes) if is_gpu_node(n)]
    others = sorted({n.status.node_info.kernel_version for n in gpu_nodes} - {image.kernel, ""})
    elsewhere = f"; other GPU nodes run {listed(others)}" if others else ""
    return Failed(
        about=f"node/{pod.spec.node_name}",
        summary=f"There is no image of driver {image.version} for kernel {image.kernel} ({image.os}){elsewhere}.",
        evidence=(image.said.evidence, *_kernels(gpu_nodes, pod.spec.node_name)),
        remedy=(
            Remedy(
                "See which kernel each node runs; boot and hold one that has an image",
                "kubectl get nodes -o custom-columns=NODE:.metadata.name,KERNEL:.status.nodeInfo.kernelVersion",
                Risk.NONE,
            ),
            Remedy(
                "Or let the driver be built on the node",
                'kubectl patch clusterpolicy --type merge -p \'{"spec":{"driver":{"usePrecompiled":false}}}\' NAME',
                Risk.HIGH,
            ),
        ),
    )


def _kernels(nodes: list[Node], own: str) -> tuple[Evidence, ...]:
    shown = [n for n in nodes if n.name == own and n.status.node_info.kernel_version]
    return tuple(
        Evidence(
            object=f"node/{n.name}", field="status.nodeInfo.kernelVersion", value=n.status.node_info.kernel_version
        )
        for n in shown
    )
