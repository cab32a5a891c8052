"""A fault of a node's GPU stack as a rule tells it: on which nodes it was seen, by which words, and what follows.

The stack starts in an order: driver, container toolkit, validator and device plugin, then what only describes and
measures. What stands first is the cause; rules name what comes after it in `mutes`.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from lockgate.diagnosis.rule import Failed, Skipped, on_each
from lockgate.diagnosis.seen import listed, pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.gate_one import gpu_asked
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.diagnosis.ways import log_command
from lockgate.model.facts import Missing, Pods
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.pod_state import trouble

STAGES: Final = (Stage.NODE, Stage.OPERAND, Stage.ADMISSION, Stage.CREATING, Stage.FAILED, Stage.RUNNING)
"""Where a fault of the stack may be asked about: a node, an operand, an operand's pod that is not well."""

Find = Callable[[NodeStack], Told | None]
Words = Callable[[NodeStack, Told], str]
Remedies = Callable[[NodeStack, Told], tuple[Remedy, ...]]


def blame(
    ailing: Ailing,
    find: Find,
    says: Words,
    remedy: Remedies,
    *,
    codes: tuple[str, ...] = (),
    softer: Severity | None = None,
) -> Failed | Skipped | None:
    """The fault where it is found; Skipped where logs that may show it were not read.

    `softer` is how bad it is while every node that has it still has GPUs to give.
    """
    hits = [(on, told) for on in ailing.nodes if (told := find(on))]
    if not hits:
        return Skipped(ailing.unread.reason, ailing.unread.how) if ailing.unread else None
    return on_each(
        [
            Failed(
                about=f"node/{on.name}",
                codes=codes,
                severity=softer if on.advertises else None,
                summary=f"{on.name}: {says(on, told)}",
                nodes=(on.name,),
                evidence=_seen(told),
                remedy=remedy(on, told),
            )
            for on, told in hits
        ]
    )


def with_more(told: Told | None, *more: Told | Evidence | None) -> Told | None:
    """What was found, with what else speaks for it; None where it was not found."""
    beside = tuple(each.evidence if isinstance(each, Told) else each for each in more if each is not None)
    return None if told is None else msgspec.structs.replace(told, more=(*told.more, *beside))


def read_logs(told: Told) -> tuple[Remedy, ...]:
    """See the whole log of the pod that said it; nothing where no pod did."""
    if told.pod is None:
        return ()
    command = log_command(told.pod.namespace, told.pod.name, lines=100)
    return (Remedy("Read the whole log", command, Risk.NONE),)


def restart(told: Told) -> tuple[Remedy, ...]:
    """Let the pod that said it start again, once the cause is mended."""
    if told.pod is None:
        return ()
    command = f"kubectl delete pod -n {told.pod.namespace} {told.pod.name}"
    return (Remedy("Then let its pod start again", command, Risk.MEDIUM),)


def holders(on: NodeStack, pods: Pods | Missing) -> str:
    """Who holds the node's GPUs, as far as it is known, in a few words."""
    if isinstance(pods, Missing):
        return "whether GPU pods hold it is not known"
    here = (p for p in pods if p.spec.node_name == on.name and p.status.phase == "Running")
    asking = [f"{p.namespace}/{p.name}" for p in here if gpu_asked(p)]
    if asking:
        return f"GPU pods on the node: {listed(asking)}"
    return "no pod on the node asks for a GPU, so a program or module of the host holds it"


def kernel_of(on: NodeStack) -> str:
    """The kernel that runs on the node."""
    return (on.node.status.node_info.kernel_version if on.node else "") or "of the node"


def image_of(told: Told, what: str) -> str:
    """The image of the pod's first container, in words; `what` it is the image of."""
    containers = told.pod.spec.containers if told.pod else ()
    return next((f"{what} image {c.image}" for c in containers if c.image), f"the {what} image")


def _seen(told: Told) -> tuple[Evidence, ...]:
    pod = told.pod
    state = () if pod is None else (Evidence(object=pod_ref(pod), field="status", value=trouble(pod) or "not Ready"),)
    return (told.evidence, *told.more, *state)
