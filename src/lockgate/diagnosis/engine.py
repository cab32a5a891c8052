"""`diagnose(snapshot, target, rules)`: run the rules that speak about where the target is, and order what they say."""

from collections.abc import Iterable
from typing import Any

import msgspec

from lockgate.diagnosis.operand_names import short_name
from lockgate.diagnosis.order import in_order
from lockgate.diagnosis.rule import Failed, Outcome, Passed, Rule, Skipped
from lockgate.diagnosis.scope import scope
from lockgate.diagnosis.seen import MOST_NODES
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.subject import Facts, Subject
from lockgate.diagnosis.target import CLUSTER, WIDE, Target
from lockgate.diagnosis.verdict import conclude
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.finding import Diagnosis, Finding, NotChecked, RuledOut, TargetRef

# Objects of which many may have the same fault at once.
_MANY = ("pod", "node", "daemonset")


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules said about one subject."""

    findings: tuple[Finding, ...]
    ruled_out: tuple[RuledOut, ...]
    not_checked: tuple[NotChecked, ...]
    reach: dict[str, int]


def diagnose(snapshot: Snapshot, target: Target, rules: Iterable[Rule]) -> Diagnosis:
    """Why the target does not run, or that nothing is wrong with it; for the cluster what is wrong, worst first.

    The same facts give the same answer, in the same order. Raises `target.TargetMissingError` when the target is not
    among the facts; anything else that is lacking ends in `not_checked`.
    """
    rules = tuple(rules)
    found = scope(snapshot, target)
    about, shared = found.about, dict[str, Any]()
    answers = [ask(snapshot, subject, rules, shared, _called(target, subject)) for subject in about]
    reach = {f: n for a in answers for f, n in a.reach.items()}
    findings = in_order(_merged(answers), rules, reach)
    not_checked = (*_distinct(n for a in answers for n in a.not_checked), *_unseen(found.unseen))
    verdict, headline = conclude(found, findings, not_checked)
    return Diagnosis(
        target=TargetRef(found.target.kind, found.target.name, found.target.namespace),
        verdict=verdict,
        headline=headline,
        findings=findings,
        # What one node or pod rules out says nothing of the others.
        ruled_out=() if target.kind == CLUSTER else _still_out(answers, findings),
        not_checked=not_checked,
        next=next((f.remedy for f in findings if f.remedy), ()),
    )


def ask(
    snapshot: Snapshot,
    subject: Subject,
    rules: Iterable[Rule],
    shared: dict[str, Any] | None = None,
    affected: tuple[str, ...] = (),
) -> Answers:
    """Every rule's word about one subject, which its findings call `affected`.

    Fallback rules come last, and only if nothing else failed.
    """
    facts = Facts(snapshot, subject, shared)
    asked = [r for r in rules if applies(r, subject)]
    outcomes = [(r, outcome(r, facts)) for r in asked if not r.fallback]
    if not any(isinstance(o, Failed) for _, o in outcomes):
        outcomes += [(r, outcome(r, facts)) for r in asked if r.fallback]
    return Answers(
        findings=tuple(_finding(r, o, affected) for r, o in outcomes if isinstance(o, Failed)),
        ruled_out=tuple(RuledOut(r.id, o.reason) for r, o in outcomes if isinstance(o, Passed)),
        not_checked=tuple(NotChecked(r.id, o.reason, o.how, o.decides) for r, o in outcomes if isinstance(o, Skipped)),
        reach={r.id: o.reach for r, o in outcomes if isinstance(o, Failed)},
    )


def applies(rule: Rule, subject: Subject) -> bool:
    """Whether a rule speaks about a subject: its stage, and whether it asks for a GPU."""
    return subject.stage in rule.stages and rule.asks_gpu in (None, subject.asks_gpu)


def outcome(rule: Rule, facts: Facts) -> Outcome:
    """One rule's outcome; Skipped where a fact that it needs is missing."""
    arguments = facts.arguments(rule.needs)
    if isinstance(arguments, Missing):
        return Skipped(arguments.reason, arguments.how)
    return rule.check(**arguments)


def _finding(rule: Rule, failed: Failed, affected: tuple[str, ...]) -> Finding:
    return Finding(
        id=rule.id,
        codes=failed.codes or rule.codes,
        title=failed.title or rule.title,
        severity=failed.severity or rule.severity,
        about=failed.about,
        summary=failed.summary,
        evidence=failed.evidence,
        remedy=failed.remedy,
        gpu=rule.gpu,
        affects=affected,
    )


def _called(target: Target, subject: Subject) -> tuple[str, ...]:
    """What a finding about a subject strikes, beside what has the same fault; empty where that was asked about."""
    if subject.operand is not None:
        return (short_name(subject.operand) or subject.operand.name,)
    if subject.node is not None:
        return (subject.node.name,)
    named = subject.pod or subject.workload
    if subject.stage is Stage.CLUSTER or named is None:
        return ()
    if target.kind in WIDE:
        return (f"{named.namespace}/{named.name}", *subject.alike)
    return (subject.pod.name,) if subject.pod and subject.workload else ()


def _merged(answers: list[Answers]) -> list[Finding]:
    """One finding a cause: the same rule about the same object, or about each of several pods, is said once."""
    by_cause: dict[tuple[str, ...], Finding] = {}
    for finding in (f for a in answers for f in a.findings):
        key = _cause(finding)
        earlier = by_cause.get(key)
        by_cause[key] = finding if earlier is None else _joined(earlier, finding)
    return list(by_cause.values())


def _cause(finding: Finding) -> tuple[str, ...]:
    """What makes two findings the same; nodes with the same fault are told together, whatever their names."""
    kind = finding.about.partition("/")[0].replace("nodes", "node")
    return (finding.id, kind, *finding.codes) if kind in _MANY else (finding.id, finding.about)


def _joined(earlier: Finding, later: Finding) -> Finding:
    affects = tuple(dict.fromkeys((*earlier.affects, *later.affects)))
    room = later.about != earlier.about and earlier.about.startswith("node/") and len(affects) <= MOST_NODES
    evidence = (*earlier.evidence, *later.evidence) if room else earlier.evidence
    worse = later if later.severity.rank > earlier.severity.rank else earlier
    return msgspec.structs.replace(worse, affects=affects, evidence=tuple(dict.fromkeys(evidence)))


def _unseen(count: int) -> tuple[NotChecked, ...]:
    if not count:
        return ()
    reason = f"{count} more pods that are not well were not looked at; ask about one of them, or mend these first"
    return (NotChecked("cluster", reason, "kubectl gpu why pod/NAME -n NAMESPACE", decides=False),)


def _distinct(items: Iterable[NotChecked]) -> tuple[NotChecked, ...]:
    return tuple(sorted(dict.fromkeys(items), key=lambda n: (not n.decides, n.id, n.reason)))


def _still_out(answers: list[Answers], findings: tuple[Finding, ...]) -> tuple[RuledOut, ...]:
    """What is ruled out for every subject; one pod's pass does not speak for another's fault."""
    failed = {f.id for f in findings}
    first: dict[str, RuledOut] = {}
    for item in (r for a in answers for r in a.ruled_out if r.id not in failed):
        first.setdefault(item.id, item)
    return tuple(sorted(first.values(), key=lambda r: r.id))
