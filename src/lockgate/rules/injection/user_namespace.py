"""A pod with a user namespace of its own gets no GPU from the runtime's hook.

`hostUsers: false` gives the pod its own user ids. The hook that injects GPUs then fails, and crun reports only that
its container's process is gone.

Why it matters: the text says nothing of GPUs or of user namespaces.
How to tell: the same pod without `hostUsers: false` starts (release notes of the GPU operator 26.3;
nvidia-container-toolkit#648).
Fix: leave `hostUsers: false` out of pods with GPUs, or inject by CDI without hooks.
"""

import re

from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.own_spec import how_to_read
from lockgate.diagnosis.views.words import Words
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod
from lockgate.model.told import Part, is_unseen

# crun 1.8; CRI-O puts "container create failed: " before it.
_TEXT = re.compile(r"read (?:status |pid )?from sync socket: No such process")


@rule(codes=("E19",), severity=Severity.BLOCKER, stages=(Stage.CREATING, Stage.FAILED))
def user_namespace(pod: Pod, words: Words) -> Failed | Skipped | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    if is_unseen(pod, Part.HOST_USERS):
        return Skipped("whether the pod has user ids of its own (hostUsers) is not among the facts", how_to_read(pod))
    if pod.spec.host_users is not False:
        return None
    return Failed(
        about=pod_ref(pod),
        summary=f"It has user ids of its own (hostUsers: false), with which {pod.spec.node_name} injects no GPU.",
        evidence=(said.evidence, Evidence(object=pod_ref(pod), field="spec.hostUsers", value="false")),
        remedy=(Remedy("Remove hostUsers: false from the pod, and make it anew", "", Risk.LOW),),
    )
