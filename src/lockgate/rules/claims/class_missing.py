"""A device class that a claim asks for does not exist.

A claim asks for devices of a DeviceClass, which the driver's installation makes (`gpu.nvidia.com`, `mig.nvidia.com`).

Why it matters: no node is looked at. It usually means that the driver for claims was never installed, or that the class
has another name in this cluster.
How to tell: the scheduler says `device class ... does not exist`.
Fix: install the driver, or write a class that exists into the claim or its template.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import listed, pod_ref, scheduler_text
from lockgate.diagnosis.stage import Stage
from lockgate.model.facts import DeviceClasses, Events, Missing
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod

# kube-scheduler plugins/dynamicresources; seen on a real 1.37.2. The allocator words it `could not retrieve ...`.
_TEXT = re.compile(
    r"request (?P<request>\S+): (?:device class (?P<name>\S+) does not exist"
    r"|could not retrieve device class (?P<other>[^:\s]+))"
)


@rule(codes=("C18",), severity=Severity.BLOCKER, stages=(Stage.SCHEDULING,), asks_gpu=None)
def class_missing(pod: Pod, device_classes: DeviceClasses | Missing, pod_events: Events | Missing) -> Failed | None:
    word, _ = scheduler_text(pod, () if isinstance(pod_events, Missing) else pod_events)
    found = _TEXT.search(word.verbatim) if word else None
    if found is None or word is None:
        return None
    name = found["name"] or found["other"]
    known = None if isinstance(device_classes, Missing) else [c.name for c in device_classes]
    there = "" if known is None else f"; there is {listed(known)}" if known else "; the cluster has none"
    return Failed(
        about=pod_ref(pod),
        summary=f"Request {found['request']} of its claim asks for device class {name}, which does not exist{there}.",
        evidence=(word,),
        remedy=(
            Remedy(
                "See which classes there are; the driver for claims makes gpu.nvidia.com",
                "kubectl get deviceclasses",
                Risk.NONE,
            ),
        ),
    )
