"""Which rules recognise a pasted error text: it is put where such texts appear, and the rules are asked.

So nothing is matched here that `why` would not name: an event of a pod without containers, the kubelet's refusal, an
event of a workload without pods, a container's last words and its log, the logs of operands and of a node, the
scheduler's words. Of the scheduler's reasons only their kind is known without a cluster, so each gives every rule that
may be behind it; so do words that no rule quotes, since it decides by other facts (`recognise_words`).
"""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from lockgate.diagnosis.engine import applies, outcome
from lockgate.diagnosis.operand_names import APPS, VALIDATIONS
from lockgate.diagnosis.recognise_words import behind
from lockgate.diagnosis.rule import Failed, Rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.subject import Facts, Subject
from lockgate.model import names
from lockgate.model.facts import Log, NodeFiles, Snapshot
from lockgate.model.objects import (
    Condition,
    Container,
    ContainerState,
    ContainerStatus,
    Event,
    Metadata,
    Node,
    NodeStatus,
    ObjectReference,
    OwnerReference,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    StateTerminated,
    StateWaiting,
    Workload,
)
from lockgate.model.queues import NodeClaim, NodeClaimStatus
from lockgate.scheduling.causes import Cause
from lockgate.scheduling.messages import parse_failed_scheduling, parse_scale_up

_META: Final = Metadata(name="it", namespace="default")
_SPEC: Final = PodSpec(
    node_name="the node",
    host_users=False,  # one text speaks only of such pods
    containers=(Container(name="main", resources=ResourceRequirements(limits={names.GPU: "1"})),),
)
_BEHIND: Final[dict[Cause, tuple[str, ...]]] = {
    Cause.TAINT: ("scheduling/untolerated-taint",),
    Cause.CORDONED: ("scheduling/cordoned",),
    Cause.SELECTOR: ("scheduling/selector",),
    Cause.NODE_NAME: ("scheduling/selector",),
    Cause.VOLUME: ("scheduling/volume",),
    Cause.PORTS: ("scheduling/placement",),
    Cause.POD_AFFINITY: ("scheduling/placement",),
    Cause.POD_ANTI_AFFINITY: ("scheduling/placement",),
    Cause.TOPOLOGY_SPREAD: ("scheduling/placement",),
    Cause.TOO_MANY_PODS: ("scheduling/other-resource",),
    Cause.DEVICE_CLAIM: ("claims/unsatisfied",),
    Cause.GANG: ("queueing/gang-waits",),
}
# How a reason begins; anything else may be prose that only holds its words.
_REASONS: Final = re.compile(
    r"(?P<count>\d+ )?"
    r"(?P<text>(?:node\(s\) |Insufficient \S+(?:$|[.,])|pod has unbound |cannot allocate all claims).*?)\.?"
)
_TOO_FEW_GPUS: Final = (
    "scheduling/all-held",
    "scheduling/fragmented",
    "devices/unhealthy",
    "operands/plugin-gone",
    "operands/plugin-idle",
    "operands/plugin-not-targeted",
    "operands/plugin-not-installed",
    "scheduling/wrong-name",
    "devices/stale-name",
    "nodes/for-machines",
    "claims/asks-by-count",
    "discovery/no-gpu-node",
)


def recognise(text: str, rules: Iterable[Rule]) -> tuple[str, ...]:
    """The ids of rules that name a cause for a text, the most telling first; empty when no rule knows it.

    They are of the rules asked, and where a file is to blame that only `lint` reads, of its rules.
    """
    from_scheduler = _scheduler(text)
    if from_scheduler:
        return from_scheduler
    asked = tuple(rules)
    found = [r.id for subject, facts in _places(text) for r in asked if _names(r, subject, facts, text)]
    return tuple(dict.fromkeys((*found, *behind(text))))


def _scheduler(text: str) -> tuple[str, ...]:
    if parse_scale_up(text) is not None:
        return ("autoscaling/no-node-added",)
    start = text.find("nodes are available")
    whole = text[text.rfind(" ", 0, max(start - 1, 0)) + 1 :] if start > 0 else _completed(text)
    said = parse_failed_scheduling(whole)
    reasons = said.reasons if said else ()
    found: list[str] = []
    if said and said.prefilter_cause and "device class" not in said.prefilter:  # that one names its own rule
        found += _BEHIND.get(said.prefilter_cause, ())
    for reason in reasons:
        if reason.cause is Cause.INSUFFICIENT:
            found += _TOO_FEW_GPUS if names.is_gpu_resource(reason.resource) else ("scheduling/other-resource",)
        found += _BEHIND.get(reason.cause, ())
    if not reasons and "Insufficient nvidia.com/" in text:
        found += _TOO_FEW_GPUS
    return tuple(dict.fromkeys(found))


def _completed(text: str) -> str:
    """Reasons without the sentence around them, as somebody copies them out of it."""
    reasons = _REASONS.fullmatch(" ".join(text.split()))
    return f"0/1 nodes are available: {reasons['count'] or '1 '}{reasons['text']}." if reasons else text


def _names(rule: Rule, subject: Subject, facts: Facts, text: str) -> bool:
    """Whether a rule fails there because of the text: it must quote it, and be more than a fallback."""
    if rule.fallback or not applies(rule, subject):
        return False
    said = outcome(rule, facts)
    if not isinstance(said, Failed):
        return False
    # The kubelet's refusal is quoted whatever it says: only known words count.
    known = bool(said.codes or rule.codes) and (rule.id != "kubelet/refused" or bool(said.codes))
    return known and any(text in e.verbatim or e.verbatim in text for e in said.evidence if e.verbatim)


def _places(text: str) -> Iterable[tuple[Subject, Facts]]:
    places = (_creating(text), "Pod"), (_refused(text), "Pod"), (_workload(), "Job"), (_ended(), "Pod")
    for subject, about in (*places, (_waiting(text), "Pod")):
        event = Event(
            metadata=Metadata(name="e"),
            type="Warning",
            reason="Failed",
            message=text,
            involved_object=ObjectReference(kind=about, name=_META.name, namespace=_META.namespace),
        )
        yield subject, Facts(Snapshot(events=(event,), logs=(Log("default", "it", "main", text),)), subject)
    yield _node(text)
    yield _operator(text)
    yield _stack(text)


def _waiting(text: str) -> Subject:
    """A pod without a node, of which a scheduler or an autoscaler said it."""
    word = Condition(type="PodScheduled", status="False", message=text)
    spec = msgspec.structs.replace(_SPEC, node_name="", scheduler_name="another")
    return Subject(stage=Stage.SCHEDULING, pod=Pod(metadata=_META, spec=spec, status=PodStatus(conditions=(word,))))


def _ended() -> Subject:
    """A pod whose container has ended; its last words are its event and its log."""
    status = ContainerStatus(name="main", state=ContainerState(terminated=StateTerminated(reason="Error", exit_code=1)))
    return Subject(
        stage=Stage.FAILED,
        pod=Pod(metadata=_META, spec=_SPEC, status=PodStatus(phase="Failed", container_statuses=(status,))),
    )


def _node(text: str) -> tuple[Subject, Facts]:
    """A node whose kernel and kubelet said it."""
    node = Node(metadata=Metadata(name=_SPEC.node_name))
    subject = Subject(stage=Stage.NODE, pod=Pod(spec=_SPEC), node=node)
    folder = NodeFiles(node.name, {}, {"dmesg": text, "kubelet": text, "fabricmanager": text})
    word = Condition(type="Initialized", status="Unknown", message=text)
    ordered = NodeClaim(status=NodeClaimStatus(node_name=node.name, conditions=(word,)))
    return subject, Facts(Snapshot(nodes=(node,), node_files=(folder,), node_claims=(ordered,)), subject)


def _stack(text: str) -> tuple[Subject, Facts]:
    """A node without GPUs where the kernel and every operand said it."""
    node = Node(
        metadata=Metadata(name=_SPEC.node_name, labels={names.PCI_PRESENT[0]: "true"}),
        status=NodeStatus(allocatable={"cpu": "1"}),
    )
    pods = tuple(_operand(app) for app in (*APPS.values(), *VALIDATIONS))
    logs = tuple(Log(pod.namespace, pod.name, "main", text) for pod in pods)
    folder = NodeFiles(node.name, {}, {"dmesg": text, "nvidia-smi": text, "nvidia-smi-q": text})
    subject = Subject(stage=Stage.NODE, pod=Pod(spec=_SPEC), node=node)
    return subject, Facts(Snapshot(nodes=(node,), pods=pods, logs=logs, node_files=(folder,)), subject)


def _operand(app: str) -> Pod:
    """An operand's pod that crashes."""
    status = ContainerStatus(name="main", state=ContainerState(waiting=StateWaiting(reason="CrashLoopBackOff")))
    return Pod(
        metadata=Metadata(
            name=app,
            namespace=_META.namespace,
            labels={"app": app},
            owner_references=(OwnerReference(kind="DaemonSet", name=app),),
        ),
        spec=PodSpec(node_name=_SPEC.node_name),
        status=PodStatus(phase="Running", container_statuses=(status,)),
    )


def _creating(text: str) -> Subject:
    reason = next((word for word in text.replace(":", " ").split() if word in _BACK_OFF), "")
    waiting = StateWaiting(reason=reason, message=text)
    status = ContainerStatus(name="main", state=ContainerState(waiting=waiting))
    pod = Pod(metadata=_META, spec=_SPEC, status=PodStatus(phase="Pending", container_statuses=(status,)))
    return Subject(stage=Stage.CREATING, pod=pod)


def _operator(text: str) -> tuple[Subject, Facts]:
    """A cluster whose operator wrote it into its log."""
    pod = Pod(metadata=Metadata(name="it", namespace="default", labels={"app": "gpu-operator"}))
    subject = Subject(stage=Stage.CLUSTER, pod=Pod(spec=_SPEC))
    return subject, Facts(Snapshot(pods=(pod,), logs=(Log("default", "it", "main", text),)), subject)


_BACK_OFF: Final = ("ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull")


def _refused(text: str) -> Subject:
    first = text.strip().split(maxsplit=1)
    reason = first[0].rstrip(":") if first and first[0].rstrip(":").endswith("Error") else ""
    if first and first[0].startswith("OutOf"):
        reason = first[0].rstrip(":")
    message = text.strip()[len(first[0]) :].strip() if reason else text
    status = PodStatus(phase="Failed", reason=reason or "UnexpectedAdmissionError", message=message)
    return Subject(stage=Stage.ADMISSION, pod=Pod(metadata=_META, spec=_SPEC, status=status))


def _workload() -> Subject:
    return Subject(stage=Stage.NO_POD, workload=Workload(metadata=_META, kind="Job"))
