"""The driver answers, and shows the container no device.

`nvidia-smi` says `No devices were found`: libraries and control device are there, and no GPU (or MIG device) that the
container may open.

Why it matters: the device that the pod was given is gone: its MIG instance was removed by a change of the geometry, or
the GPU could not be initialised.
How to tell: see the node's `nvidia.com/mig.config.state`, whether the pod is older than the change, and the kernel's
log (`RmInitAdapter failed`).
Fix: make the pod anew after a change of MIG instances; otherwise mend the GPU or the driver's kernel module.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.views.own_node import label
from lockgate.diagnosis.views.words import Words
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod

_TEXT = re.compile(r"No devices were found")
_KERNEL = re.compile(
    r"RmInitAdapter failed|requires use of the NVIDIA open kernel modules|Cannot initialize GSP firmware"
)


@rule(codes=("J12",), severity=Severity.ERROR, stages=(Stage.RUNNING, Stage.FAILED))
def no_devices_found(pod: Pod, words: Words, own_node: Node | Missing, node_words: NodeWords) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    node = pod.spec.node_name
    kernel, mig = (
        node_words.find_in_kernel(node, _KERNEL),
        label(own_node, names.MIG_CONFIG_STATE) or label(own_node, names.MIG_CONFIG),
    )
    why = (
        "the kernel could not initialise a GPU" if kernel else "its MIG instances may have changed since" if mig else ""
    )
    return Failed(
        about=pod_ref(pod),
        summary=f"The driver of {node} shows it no device{f': {why}' if why else ''}.",
        evidence=some(said.evidence, kernel.evidence if kernel else None, mig),
        remedy=(
            Remedy("Make the pod anew", f"kubectl delete pod -n {pod.namespace} {pod.name}", Risk.LOW),
            Remedy(f"On {node}, see what there is", "nvidia-smi -L; dmesg | grep NVRM | tail", Risk.NONE),
        ),
    )
