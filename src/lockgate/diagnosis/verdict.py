"""The answer in one word and one sentence, from what the rules found and what they could not check."""

from collections.abc import Sequence
from itertools import takewhile

import msgspec

from lockgate.diagnosis.other_gpus import other_gpus
from lockgate.diagnosis.scope import Scope
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.subject import Subject
from lockgate.diagnosis.target import WIDE, Target
from lockgate.diagnosis.views.gate_one import gpu_asked
from lockgate.kit.counted import counted
from lockgate.model.finding import Finding, NotChecked, Severity, Verdict
from lockgate.model.objects import Pod

_WHERE = {
    Stage.NO_POD: "has no pod yet",
    Stage.SCHEDULING: "waits for a node",
    Stage.ADMISSION: "was refused by the kubelet",
    Stage.CREATING: "has a node and its containers do not run yet",
    Stage.RUNNING: "runs and is not ready",
    Stage.FAILED: "ended with an error",
    Stage.SUCCEEDED: "has finished",
    Stage.TERMINATING: "is being deleted",
}


# Subjects that are no pod on its way.
_WHOLE = (Stage.NODE, Stage.OPERAND, Stage.CLUSTER)


def conclude(found: Scope, findings: Sequence[Finding], not_checked: Sequence[NotChecked]) -> tuple[Verdict, str]:
    """The verdict, and the sentence that a person reads first."""
    target = found.target
    worst = max((f.severity.rank for f in findings), default=-1)
    if worst >= Severity.ERROR.rank:
        first = next(f for f in findings if f.severity.rank >= Severity.ERROR.rank)
        first = _as_cause_of(first, findings)
        beside = first.gpu is False and any(map(_is_own_gpu_fault, findings))
        return (
            (Verdict.BROKEN, _sentence(target, first, beside)) if beside else (_kind(first), _sentence(target, first))
        )
    if worst == Severity.WARNING.rank:
        first = next(f for f in findings if f.severity is Severity.WARNING)
        undecided = first.gpu is None and any(n.decides for n in not_checked)
        return Verdict.UNKNOWN if undecided else Verdict.WARNING, _sentence(target, first)
    verdict, sentence = _nothing_found(target, found.about, not_checked, found.looked_at)
    return verdict, sentence + _remarks(findings)


def _remarks(findings: Sequence[Finding]) -> str:
    """What is no fault and yet worth to know, in a few words."""
    titles = dict.fromkeys(f.title for f in findings if not f.follows)
    return f" To know: {'; '.join(titles)}." if titles else ""


def _as_cause_of(first: Finding, findings: Sequence[Finding]) -> Finding:
    """A cause that could strike anything is a GPU fault where GPUs are what it took away: the plugin's own image."""
    behind = findings[findings.index(first) + 1 :]
    struck = any(f.gpu for f in takewhile(lambda f: f.follows, behind) if f.follows == first.id)
    return msgspec.structs.replace(first, gpu=True) if struck else first


def _is_own_gpu_fault(finding: Finding) -> bool:
    """Whether it would keep the pod from its GPU also once all else is mended."""
    return bool(finding.gpu) and not finding.follows and finding.severity.rank >= Severity.ERROR.rank


def _kind(finding: Finding) -> Verdict:
    if finding.gpu is None:
        return Verdict.UNKNOWN
    return Verdict.BROKEN if finding.gpu else Verdict.NOT_GPU


def _sentence(target: Target, finding: Finding, beside: bool = False) -> str:
    other = " This is no GPU fault, and there is one beside it." if beside else " This is not a GPU fault."
    not_gpu = other if finding.gpu is False else ""
    return f"{_name(target)}: {finding.title}. {finding.summary}{not_gpu}"


def _name(target: Target) -> str:
    placed = target.namespace and target.kind not in WIDE
    return f"{target.text} in {target.namespace}" if placed else target.text


def _nothing_found(
    target: Target, about: Sequence[Subject], not_checked: Sequence[NotChecked], looked_at: str
) -> tuple[Verdict, str]:
    if target.kind in WIDE:
        return _nothing_wrong(target, about, not_checked, looked_at)
    sick = [s for s in about if not s.well]
    if deciding := [n for n in not_checked if n.decides]:
        return Verdict.UNKNOWN, f"{_name(target)} {_state(about)}; {_open(deciding)}."
    if sick:
        return Verdict.WAITING, f"{_name(target)} {_state(sick)}; no fault is seen."
    return Verdict.HEALTHY, f"{_name(target)} {_state(about)}. {_well(not_checked)}"


def _nothing_wrong(
    target: Target, about: Sequence[Subject], not_checked: Sequence[NotChecked], looked_at: str
) -> tuple[Verdict, str]:
    """The answer about what is no workload: its parts were looked at, and pods of it may still be on their way."""
    on_the_way = sum(1 for s in about if s.stage not in _WHOLE and not s.well)
    seen = looked_at or _looked_at(about)
    if deciding := [n for n in not_checked if n.decides]:
        return Verdict.UNKNOWN, f"{_name(target)}: {seen}; {_open(deciding)}."
    if on_the_way:
        return (
            Verdict.WAITING,
            f"{_name(target)}: {seen}, {counted(on_the_way, 'pod is', 'pods are')} not ready yet; no fault is seen.",
        )
    return Verdict.HEALTHY, f"{_name(target)}: {seen}. {_well(not_checked)}"


def _looked_at(about: Sequence[Subject]) -> str:
    nodes = [s for s in about if s.stage is Stage.NODE]
    operands = [s.operand for s in about if s.operand is not None]
    if len(nodes) == 1 and not operands:
        return _gpus(nodes[0])
    if len(operands) == 1 and not nodes:
        status = operands[0].status
        return f"{status.number_ready} of {status.desired_number_scheduled} pods ready"
    return f"{counted(len(nodes), 'GPU node')} and {counted(len(operands), 'operand')} looked at"


def _gpus(subject: Subject) -> str:
    rows = subject.gate.rows if subject.gate else ()
    return f"{subject.gate.resource} {rows[0].arithmetic()}" if subject.gate and rows else "no GPU is known there"


def _state(about: Sequence[Subject]) -> str:
    first = about[0]
    if first.stage is Stage.RUNNING and first.well and first.pod is not None:
        return f"runs on {first.pod.spec.node_name or 'its node'}{_with(first.pod)}"
    if first.has_finished:
        return _WHERE[Stage.SUCCEEDED]
    if first.wants_none:
        return "has no pod, and wants none"
    if first.stage is Stage.NO_POD and first.workload is not None and not first.workload.spec.replicas:
        return "has no pod between its runs" if first.well and first.workload.kind == "CronJob" else "has no pod"
    return _WHERE[first.stage]


def _with(pod: Pod) -> str:
    """What the pod has of GPUs, by what it asks for."""
    if resource := gpu_asked(pod):
        return f" with its {resource}"
    other = other_gpus(pod)
    return f" with {other}" if other else " and asks for no GPU, so it has none"


def _well(not_checked: Sequence[NotChecked]) -> str:
    """Where something was not read, all is well as far as was seen."""
    return "Nothing wrong is seen in what was read." if not_checked else "Nothing is wrong."


def _open(questions: Sequence[NotChecked]) -> str:
    count = len({(n.reason, n.how) for n in questions})
    return f"{counted(count, 'question')} that could change the answer could not be checked"
