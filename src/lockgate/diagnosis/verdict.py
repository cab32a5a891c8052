"""The answer in one word and one sentence, from what the rules found and what they could not check."""

from collections.abc import Sequence

from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.subject import Subject
from lockgate.diagnosis.target import Target
from lockgate.diagnosis.views.gate_one import gpu_asked
from lockgate.model.finding import Finding, NotChecked, Severity, Verdict

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


def conclude(
    target: Target, about: Sequence[Subject], findings: Sequence[Finding], not_checked: Sequence[NotChecked]
) -> tuple[Verdict, str]:
    """The verdict, and the sentence that a person reads first."""
    worst = max((f.severity.rank for f in findings), default=-1)
    if worst >= Severity.ERROR.rank:
        first = next(f for f in findings if f.severity.rank >= Severity.ERROR.rank)
        return _kind(first), _sentence(target, first)
    if worst == Severity.WARNING.rank:
        first = next(f for f in findings if f.severity is Severity.WARNING)
        undecided = first.gpu is None and any(n.decides for n in not_checked)
        return Verdict.UNKNOWN if undecided else Verdict.WARNING, _sentence(target, first)
    return _nothing_found(target, about, [n for n in not_checked if n.decides])


def _kind(finding: Finding) -> Verdict:
    if finding.gpu is None:
        return Verdict.UNKNOWN
    return Verdict.BROKEN if finding.gpu else Verdict.NOT_GPU


def _sentence(target: Target, finding: Finding) -> str:
    not_gpu = " This is not a GPU fault." if finding.gpu is False else ""
    return f"{_name(target)}: {finding.title}. {finding.summary}{not_gpu}"


def _name(target: Target) -> str:
    return f"{target.text} in {target.namespace}" if target.namespace else target.text


def _nothing_found(
    target: Target, about: Sequence[Subject], open_questions: Sequence[NotChecked]
) -> tuple[Verdict, str]:
    sick = [s for s in about if not s.well]
    if open_questions:
        return Verdict.UNKNOWN, f"{_name(target)} {_state(about)}; {_open(open_questions)}."
    if sick:
        return Verdict.WAITING, f"{_name(target)} {_state(sick)}; no fault is seen."
    return Verdict.HEALTHY, f"{_name(target)} {_state(about)}. Nothing is wrong."


def _state(about: Sequence[Subject]) -> str:
    first = about[0]
    if first.stage is Stage.RUNNING and first.well and first.pod is not None:
        resource = gpu_asked(first.pod)
        with_gpu = f" with its {resource}" if resource else " and asks for no GPU, so it has none"
        return f"runs on {first.pod.spec.node_name or 'its node'}{with_gpu}"
    if first.stage is Stage.NO_POD and first.workload is not None and not first.workload.spec.replicas:
        return "has no pod"
    return _WHERE[first.stage]


def _open(questions: Sequence[NotChecked]) -> str:
    count = len(questions)
    return f"{count} question{'s' if count > 1 else ''} that could change the answer could not be checked"
