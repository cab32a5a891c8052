"""Containers fail to start for a while after CRI-O was configured.

With GPU operator 25.10.0 on CRI-O operands show RunContainerError or CreateContainerError until CRI-O has taken up its
new configuration. They start by themselves some minutes later.

Why it matters: it looks broken and is not; nothing has to be done.
How to tell: the operator is 25.10.0, the runtime is CRI-O, and the pods are young.
Fix: wait; if it stays for more than ten minutes it is something else. Operator 25.10.1 does not show it.
"""

import datetime as dt
import re

from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Sick, Told
from lockgate.model.facts import Snapshot
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.pod_state import trouble

# NVIDIA's release notes of 25.10 (cri-o#9521).
_REASON = re.compile(r"(?:Run|Create)ContainerError")
_IMAGE = re.compile(r"gpu-operator[\w-]*:v?25\.10\.0\b")
_PATIENCE = dt.timedelta(minutes=10)


@rule(codes=("I20",), severity=Severity.WARNING, stages=STAGES, asks_gpu=None, runtime="cri-o")
def crio_transient(ailing: Ailing, snapshot: Snapshot) -> Outcome:
    return blame(
        ailing,
        lambda on: _find(on, snapshot.taken_at),
        lambda on, told: "operands cannot be started yet; with operator 25.10.0 on CRI-O that passes by itself.",
        lambda on, told: (Remedy("Wait some minutes and look again", f"kubectl gpu why node/{on.name}", Risk.NONE),),
    )


def _find(on: NodeStack, now: dt.datetime | None) -> Told | None:
    if on.node is None or on.node.status.node_info.runtime != "cri-o" or now is None:
        return None
    return next((told for sick in on.sick if (told := _young(sick, now))), None)


def _young(sick: Sick, now: dt.datetime) -> Told | None:
    pod, words = sick.pod, trouble(sick.pod)
    born, match = pod.metadata.creation_timestamp, _REASON.search(words)
    images = (c.image for c in (*pod.spec.init_containers, *pod.spec.containers))
    if match is None or born is None or now - born > _PATIENCE or not any(map(_IMAGE.search, images)):
        return None
    return Told(match, Evidence(object=f"pod/{pod.namespace}/{pod.name}", field="status", value=words))
