"""The driver on the node cannot prepare the pod's claims.

The scheduler has allocated devices to the pod's claims; the kubelet asks the driver on the node to prepare them, and
the driver is not registered there, or refuses.

Why it matters: the pod stays ContainerCreating with a device that it holds and cannot use, and nobody else can either.
How to tell: the pod has an event FailedPrepareDynamicResources with the kubelet's or the driver's words.
Fix: see whether the driver's pod runs on the node and what its log says.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.words import Words
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod

# pkg/kubelet/kuberuntime (event FailedPrepareDynamicResources), pkg/kubelet/cm/dra; seen on a real 1.37.2
_TEXT = re.compile(r"[Ff]ailed to prepare dynamic resources: (?:prepare dynamic resources: )?(?P<why>.+)", re.DOTALL)
_ABSENT = re.compile(r"DRA driver (?P<driver>\S+) is not registered")


@rule(codes=("C18",), severity=Severity.BLOCKER, stages=(Stage.CREATING,), asks_gpu=None)
def not_prepared(pod: Pod, words: Words) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    why, node = said.match["why"].strip(), pod.spec.node_name
    absent = _ABSENT.search(why)
    title = f"The driver {absent['driver']} for claims does not run on the node" if absent else ""
    return Failed(
        about=pod_ref(pod),
        title=title,
        summary=f"On {node}: {why}.",
        evidence=(said.evidence,),
        remedy=(
            Remedy(
                f"See whether the driver's pod runs on {node}, and what it says",
                f"kubectl get pods -A -o wide --field-selector spec.nodeName={node} | grep -i dra",
                Risk.NONE,
            ),
        ),
    )
