"""A GPU cannot be passed to a virtual machine alone: its IOMMU group has other devices in use.

A pod in a virtual machine (Kata, KubeVirt) gets the whole IOMMU group of the GPU. Every device of the group has to be
bound to `vfio-pci`, and one is not, often the GPU's own audio function or another GPU.

Why it matters: the virtual machine does not start, and with it none of the pod's containers.
How to tell: the text names the device and its group.
Fix: bind every device of the group to `vfio-pci`, or use a slot or firmware setting (ACS) that separates them.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.words import Words
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod

_TEXT = re.compile(r"vfio (?P<device>[\da-fA-F]{4,8}:[\da-fA-F:.]+): group (?P<group>\d+) is not viable")


@rule(codes=("E21",), severity=Severity.BLOCKER, stages=(Stage.CREATING, Stage.FAILED), asks_gpu=None)
def vfio_group_not_viable(pod: Pod, words: Words) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    device, group, node = said.match["device"], said.match["group"], pod.spec.node_name
    return Failed(
        about=f"node/{node}",
        summary=f"PCI device {device} of {node} shares IOMMU group {group} with one that is not bound to vfio-pci.",
        evidence=(said.evidence,),
        remedy=(
            Remedy(
                f"On {node}, see which devices are in the group, and which driver each has",
                f"for d in /sys/kernel/iommu_groups/{group}/devices/*; do lspci -nnks ${{d##*/}}; done",
                Risk.NONE,
            ),
        ),
    )
