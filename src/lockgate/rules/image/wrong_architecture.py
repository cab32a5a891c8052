"""The image is for another processor architecture.

Its programs cannot be run on the node (`exec format error`), or the registry has no variant of it for the node.

Why it matters: the pod has its node and holds its GPU while it cannot start. Arm nodes with GPUs (GH200, GB200) and
x86 nodes often stand side by side.
How to tell: compare the node's `status.nodeInfo.architecture` with the platforms of the image.
Fix: build or choose an image for the architecture, or select nodes with `kubernetes.io/arch`.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.words import Said, Words
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod

# The kernel's words for ENOEXEC, as runc, crun and shells pass them on; containerd, and CRI-O, of an image's platforms.
_TEXTS = (
    re.compile(r"\bexec format error", re.IGNORECASE),
    re.compile(r"no match for platform in manifest"),
    re.compile(r"no image found in (?:manifest list|image index) for architecture"),
)


@rule(
    codes=("F05",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.FAILED),
    gpu=False,
    asks_gpu=None,
    mutes=("pod/image", "pod/no-gpu-asked"),
)
def wrong_architecture(pod: Pod, words: Words, own_node: Node | Missing) -> Failed | None:
    said = words.find(*_TEXTS)
    if said is None:
        return None
    arch = "" if isinstance(own_node, Missing) else own_node.status.node_info.architecture
    place = f"node/{pod.spec.node_name}"
    seen = (Evidence(object=place, field="status.nodeInfo.architecture", value=arch),) if arch else ()
    return Failed(
        about=pod_ref(pod),
        summary=f"Image {_image(pod, said)} has no program for {arch or 'the architecture'} of {pod.spec.node_name}.",
        evidence=(said.evidence, *seen),
        remedy=(
            Remedy(
                "See which architectures the nodes have, and select one that the image is built for",
                "kubectl get nodes -L kubernetes.io/arch",
                Risk.NONE,
            ),
        ),
    )


def _image(pod: Pod, said: Said) -> str:
    own = [c.image for c in pod.spec.containers if not said.container or c.name == said.container]
    return own[0] if own else "of the pod"
