"""The node's disk is full: the image does not fit, or the kubelet evicted the pod.

Images with CUDA take 5 to 20 GB; with a small root disk the image cannot be unpacked, or the kubelet ends pods to get
room.

Why it matters: it looks like an image or a program that fails, and other pods of the node follow.
How to tell: `no space left on device` while unpacking, or `status.reason: Evicted` with `ephemeral-storage`.
Fix: give the node a larger disk, remove images, or give the pod a request for `ephemeral-storage`.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.words import Words
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod

# kubelet, pkg/kubelet/eviction/helpers.go (1.37); containerd, core/unpack and pkg/rootfs; the kernel's ENOSPC.
_EVICTED = re.compile(r"The node was low on resource: (?P<resource>ephemeral-storage|inodes|nodefs|imagefs)\S*")
_LIMIT = re.compile(
    r"(?:Container \S+ exceeded its local ephemeral storage limit|Pod ephemeral local storage usage exceeds)"
)
_UNPACK = re.compile(r"(?:pull|unpack|extract|copy|writ).*no space left on device", re.IGNORECASE)
_STORIES = (
    (_EVICTED, "the kubelet evicted the pod to get room"),
    (_LIMIT, "the pod wrote more than its own limit, and the kubelet ended it"),
    (_UNPACK, "an image could not be unpacked"),
)


@rule(
    codes=("F06",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.FAILED),
    gpu=False,
    asks_gpu=None,
    mutes=("pod/image", "pod/no-gpu-asked"),
)
def no_disk_space(pod: Pod, words: Words) -> Failed | None:
    found = next(((said, story) for text, story in _STORIES if (said := words.find_outside_logs(text))), None)
    if found is None:
        return None
    said, story = found
    return Failed(
        about=f"node/{pod.spec.node_name}",
        summary=f"There is no room left on the disk of {pod.spec.node_name}: {story}.",
        evidence=(said.evidence,),
        remedy=(
            Remedy(
                f"See what fills the disk of {pod.spec.node_name}",
                f"kubectl describe node {pod.spec.node_name} | grep -iE 'DiskPressure|ephemeral-storage'",
                Risk.NONE,
            ),
            Remedy("On the node, remove images that no pod uses", "crictl rmi --prune", Risk.MEDIUM),
        ),
    )
