"""NVIDIA's hook was called without NVIDIA's runtime.

Something adds `nvidia-container-runtime-hook` to containers by itself (a hook folder, `docker --gpus`, a leftover of
an old installation), while the toolkit is set to another mode than `legacy`, in which the hook refuses to work.

Why it matters: no container that gets the hook starts, however healthy the GPU is.
How to tell: the hook says so itself: `invoking the NVIDIA Container Runtime Hook directly`. On the node a file in
/usr/share/containers/oci/hooks.d or /etc/containers/oci/hooks.d names it.
Fix: remove the hook file, and let CDI or the nvidia runtime class inject the device.
"""

import re

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.words import Words
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod

_TEXT = re.compile(r"invoking the NVIDIA Container Runtime Hook directly .*?is not supported", re.DOTALL)


@rule(
    codes=("E13",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.FAILED),
    asks_gpu=None,
    mutes=BROKEN_NODE,
)
def hook_called_directly(pod: Pod, words: Words) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    return Failed(
        about=f"node/{pod.spec.node_name}",
        summary=f"On {pod.spec.node_name} something else than NVIDIA's runtime calls NVIDIA's hook, and it refuses.",
        evidence=(said.evidence,),
        remedy=(
            Remedy(
                f"On {pod.spec.node_name}, find who adds the hook, and remove it",
                "grep -rl nvidia-container-runtime-hook /usr/share/containers/oci/hooks.d /etc/containers/oci/hooks.d"
                " /etc/docker/daemon.json",
                Risk.NONE,
            ),
        ),
    )
