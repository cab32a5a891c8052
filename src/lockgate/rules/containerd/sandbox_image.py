"""The node cannot get its sandbox image.

Every pod begins with the runtime's pause image. Its name stands in the runtime's configuration, and it cannot be
pulled.

Why it matters: no new pod starts on the node, whatever it asks for.
How to tell: the event FailedCreatePodSandBox says `failed to get sandbox image` and names it. A name that nobody
chose means that the setting was lost, and the runtime asks for a registry of its own choice.
Fix: let the node reach that registry, or set `sandbox_image` (containerd 1) or `pinned_images.sandbox` (containerd
2).
"""

import re

from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import event
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.handler import sandbox_image_lost
from lockgate.model.facts import Events
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod

_IMAGE = re.compile(r'failed to get sandbox image "(?P<image>[^"]+)"')


@rule(
    codes=("E02",), severity=Severity.BLOCKER, stages=(Stage.CREATING,), gpu=False, asks_gpu=None, runtime="containerd"
)
def sandbox_image(pod: Pod, pod_events: Events) -> Failed | Passed | None:
    said = sandbox_image_lost(pod_events)
    if said is None:
        return Passed("no event names the sandbox image") if pod_events else None
    found = _IMAGE.search(said.text)
    image = found["image"] if found else "unknown"
    node = pod.spec.node_name
    return Failed(
        about=f"node/{node}",
        summary=f"{node} cannot pull {image}, which every new pod there needs.",
        evidence=(event(said),),
        remedy=(
            Remedy(
                f"On {node}, see which image is configured, and let the node reach its registry",
                "containerd config dump | grep -E 'sandbox'",
                Risk.NONE,
            ),
        ),
    )
