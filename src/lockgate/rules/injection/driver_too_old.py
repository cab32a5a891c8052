"""The image needs a newer driver than the node has.

The image says which CUDA version it needs (`NVIDIA_REQUIRE_CUDA`), and the runtime compared that with what the node's
driver supports before it made the container.

Why it matters: the container never starts on this node; on one with a newer driver it would.
How to tell: the text names the condition; the label `nvidia.com/cuda.runtime.major` tells what the driver supports.
Fix: use an image for an older CUDA, a node with a newer driver, or update the driver. `NVIDIA_DISABLE_REQUIRE=1`
skips the check: right only where the CUDA compatibility package of the image is known to suffice.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.own_node import labels_of
from lockgate.diagnosis.views.words import Said, Words
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod

# libnvidia-container and nvidia-container-toolkit (internal/requirements/constraints) have the same words.
_TEXT = re.compile(
    r"unsatisfied condition: (?P<what>cuda|driver|arch|brand)\s*(?P<how>>=|<=|!=|=|>|<)\s*(?P<wanted>[\w.]+)"
)
_LABELS = ("nvidia.com/cuda.runtime-version.full", "nvidia.com/cuda.driver-version.full")
_PARTS = (
    ("nvidia.com/cuda.runtime.major", "nvidia.com/cuda.runtime.minor"),
    ("nvidia.com/cuda.driver.major", "nvidia.com/cuda.driver.minor"),
)


@rule(codes=("E17",), severity=Severity.BLOCKER, stages=(Stage.CREATING, Stage.FAILED), asks_gpu=None)
def driver_too_old(pod: Pod, words: Words, own_node: Node | Missing) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    what, wanted = said.match["what"], f"{said.match['what']}{said.match['how']}{said.match['wanted']}"
    has = _has(own_node)
    tells = f" (it supports CUDA {has[0].value})" if has and what == "cuda" else ""
    return Failed(
        about=f"node/{pod.spec.node_name}",
        summary=f"{_image(pod, said)} needs {wanted}; the driver on {pod.spec.node_name} does not give that{tells}.",
        evidence=(said.evidence, *has),
        remedy=(
            Remedy(
                "See which nodes have a newer driver, and select one of them",
                f"kubectl get nodes -L {','.join(_LABELS)}",
                Risk.NONE,
            ),
            Remedy("Or use an image that was built for an older CUDA version", "", Risk.LOW),
        ),
    )


def _image(pod: Pod, said: Said) -> str:
    own = [c.image for c in pod.spec.containers if said.container in ("", c.name)]
    return f"Image {own[0]}" if len(own) == 1 else "An image of the pod"


def _has(node: Node | Missing) -> tuple[Evidence, ...]:
    """What the node's labels say of its driver: the CUDA version that it supports, and its own version."""
    labels, found = labels_of(node), []
    for full, parts in zip(_LABELS, _PARTS, strict=True):
        value = labels.get(full) or ".".join(labels[p] for p in parts if p in labels)
        if value and not isinstance(node, Missing):
            name = full if full in labels else parts[0]
            found.append(Evidence(object=f"node/{node.name}", field=f"metadata.labels[{name}]", value=value))
    return tuple(found)
