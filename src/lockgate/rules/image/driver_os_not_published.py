"""No driver image exists for this version and the node's operating system.

The operator appends the node's operating system to the driver's version, and the registry has no such image. NVIDIA
publishes driver images for a few systems only (Ubuntu, RHEL, RHCOS, SLES), each for some driver versions.

Why it matters: without the driver pod every other operand of the node waits in Init, and the node offers no GPU.
How to tell: the tag in the text is `<version>-<os>`; the system comes from labels of node feature discovery.
Fix: choose a driver version that is published for this system; else install the driver on the host and set
`driver.enabled: false`, or build the image yourself.
"""

from lockgate.diagnosis.driver_image import LostImage, lost_driver_image
from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.own_node import label
from lockgate.diagnosis.views.words import Words
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod

# Reports of such nodes: gpu-operator#418 (buildroot), #1212, #1623, #647 (debian, cos, talos, scos).
_NEVER = ("buildroot", "cos", "debian", "scos", "talos")


@rule(
    codes=("F01",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING,),
    asks_gpu=None,
    mutes=(*BROKEN_NODE, "driver/upgrade-stuck", "pod/image"),
)
def driver_os_not_published(pod: Pod, words: Words, own_node: Node | Missing) -> Failed | None:
    image = lost_driver_image(pod, words)
    if image is None or image.kernel:
        return None
    return Failed(
        about=f"node/{pod.spec.node_name}",
        summary=f"The registry has no image {image.name}: driver {image.version} for {image.os}{_never(image)}.",
        evidence=(image.said.evidence, *some(label(own_node, names.OS_ID), label(own_node, names.OS_VERSION))),
        remedy=(
            Remedy(
                "Install the driver on the host, and let the operator leave it alone",
                'kubectl patch clusterpolicy --type merge -p \'{"spec":{"driver":{"enabled":false}}}\' NAME',
                Risk.HIGH,
            ),
            Remedy(f"Or choose a driver version that is published for {image.os}", "", Risk.MEDIUM),
        ),
    )


def _never(image: LostImage) -> str:
    return ", for which NVIDIA publishes none" if image.os.rstrip("0123456789.") in _NEVER else ""
