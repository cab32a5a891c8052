"""`diagnose(snapshot, target, rules)`: run the rules that speak about where the target is, and order what they say."""

from collections.abc import Iterable

import msgspec

from lockgate.diagnosis.as_told import finding_as_told, question_as_told
from lockgate.diagnosis.beneath import beneath
from lockgate.diagnosis.ground import Ground, is_shared, nodes_of
from lockgate.diagnosis.listed_node import with_listed
from lockgate.diagnosis.operand_names import short_name
from lockgate.diagnosis.order import Said, explaining, in_order
from lockgate.diagnosis.panel import Panel, outcome_of
from lockgate.diagnosis.rule import Failed, Outcome, Passed, Rule, Skipped
from lockgate.diagnosis.scope import scope
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.subject import Common, Facts, Subject, arguments
from lockgate.diagnosis.target import CLUSTER, WIDE, Target
from lockgate.diagnosis.unread import hiding, how_to, serves_as_told, together, unread
from lockgate.diagnosis.verdict import conclude
from lockgate.diagnosis.waive import NO_WAIVERS, Waivers, said
from lockgate.kit.counted import counted
from lockgate.model.facts import LeftOut, Missing, Snapshot
from lockgate.model.finding import Diagnosis, Finding, NotChecked, RuledOut, TargetRef
from lockgate.model.told import ToldPod


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules said about one subject."""

    said: tuple[Said, ...]
    ruled_out: tuple[RuledOut, ...]
    not_checked: tuple[NotChecked, ...]


def diagnose(
    snapshot: Snapshot,
    target: Target,
    rules: Iterable[Rule],
    waivers: Waivers = NO_WAIVERS,
    common: Common | None = None,
) -> Diagnosis:
    """Why the target does not run, or that nothing is wrong with it; for the cluster what is wrong, worst first.

    The same facts give the same answer, in the same order. Raises `target.TargetMissingError` when the target is not
    among the facts; anything else that is lacking ends in `not_checked`. What is waived is told beside the verdict.
    `common` is what is derived of these facts already, or will be asked for later.
    """
    rules, snapshot = tuple(rules), with_listed(snapshot, target)
    common = common if common is not None and common.snapshot is snapshot else Common(snapshot)
    found = scope(snapshot, target, common)
    asked = _Asked(common, target, rules)
    answers = [asked.about(subject) for subject in found.about]
    own = [s for a in answers for s in a.said]
    below = [s for each in beneath(common, found, own) for s in asked.about(each).said]
    every = in_order([*own, *explaining(own, below, rules)], rules)
    waivers = waivers.with_annotations(snapshot, [rule.id for rule in rules])
    asked_about = TargetRef(found.target.kind, found.target.name, found.target.namespace)
    findings, waived = waivers.apart(every, asked_about)
    open_ = (*hiding(snapshot, found.through), *(n for a in answers for n in a.not_checked))
    not_checked = (*together(open_), *_unseen(found.unseen), *map(_not_kept, snapshot.left_out))
    verdict, headline = conclude(found, findings, not_checked)
    return Diagnosis(
        target=asked_about,
        verdict=verdict,
        headline=said(headline, waived),
        findings=findings,
        ruled_out=_still_out(answers, every),
        not_checked=not_checked,
        waived=waived,
        void_waivers=waivers.expired(every, asked_about),
        next=next((f.remedy for f in findings if f.remedy), ()),
    )


class _Asked:
    """The rules, asked about one subject after the other; what is the same for all of them is derived once."""

    def __init__(self, common: Common, target: Target, rules: tuple[Rule, ...]) -> None:
        self._common, self._target, self._rules = common, target, rules
        self._panels: dict[tuple[Stage, bool, str], tuple[Panel, Panel, tuple[Rule, ...]]] = {}
        self._count = 0

    def about(self, subject: Subject) -> Answers:
        """Every rule's word about a subject. Fallback rules come last, and only if nothing else failed."""
        facts = Facts(self._common.snapshot, subject, self._common)
        panel, fallbacks, every = self._panels_for(subject)
        told, asked = panel.told(facts), panel.rules
        if not any(isinstance(o, Failed) and not r.aside for r, o in told):
            told, asked = told + fallbacks.told(facts), every
        return Answers(
            said=self._said([(r, o) for r, o in told if isinstance(o, Failed)], subject, facts),
            ruled_out=self._out(told),
            not_checked=tuple(
                question_as_told(question, subject.pod)
                for question in (*_skipped(told, subject, facts), *unread(subject, told, asked, facts))
            ),
        )

    def _panels_for(self, subject: Subject) -> tuple[Panel, Panel, tuple[Rule, ...]]:
        """The rules that speak about a subject, first those that are no fallbacks; and all of them."""
        runtime = _runtime(subject, self._common)
        kind = subject.stage, subject.asks_gpu, runtime
        if kind not in self._panels:
            asked = [rule for rule in self._rules if applies(rule, subject, runtime)]
            panel, fallbacks = Panel(r for r in asked if not r.fallback), Panel(r for r in asked if r.fallback)
            self._panels[kind] = panel, fallbacks, panel.rules + fallbacks.rules
        return self._panels[kind]

    def _out(self, told: list[tuple[Rule, Outcome]]) -> tuple[RuledOut, ...]:
        """What is ruled out; of a whole cluster nothing: one node does not speak for others."""
        if self._target.kind == CLUSTER:
            return ()
        return tuple(RuledOut(r.id, o.reason) for r, o in told if isinstance(o, Passed))

    def _said(self, failed: list[tuple[Rule, Failed]], subject: Subject, facts: Facts) -> tuple[Said, ...]:
        self._count += 1
        if not failed:
            return ()
        affected, ground = _called(self._target, subject), _ground(self._count, subject, facts)
        known = facts.get("pod_events") if isinstance(subject.pod, ToldPod) else ()
        events = () if isinstance(known, Missing) else known
        parts = ((r, part) for r, o in failed for part in o.told)
        told = (
            (finding_as_told(_finding(r, o, _struck(o, subject, affected)), subject.pod, events), o) for r, o in parts
        )
        return tuple(Said(finding, _placed(ground, o), o.reach, o.spares, o.passing) for finding, o in told)


def _ground(number: int, subject: Subject, facts: Facts) -> Ground:
    """Where a subject stands; `own` as long as it is nobody's but the person's who asks."""
    gate = facts.get("gate_one") if subject.stage is Stage.SCHEDULING else None
    nodes = nodes_of(subject, None if isinstance(gate, Missing) else gate)
    known = facts.get("operands")
    operand = "" if subject.pod is None or isinstance(known, Missing) else known.name_of(subject.pod)
    theirs = subject.node is None and subject.operand is None and subject.stage is not Stage.CLUSTER and not operand
    return Ground(subject=number, nodes=nodes, operand=operand, own=theirs)


def _placed(ground: Ground, failed: Failed) -> Ground:
    """Where a finding of a subject stands: as the subject, but for what the finding says itself."""
    own = ground.own and not is_shared(failed.about)
    nodes = frozenset(failed.nodes) or ground.nodes
    return msgspec.structs.replace(ground, own=own, nodes=nodes, told=bool(failed.nodes))


def _struck(failed: Failed, subject: Subject, affected: tuple[str, ...]) -> tuple[str, ...]:
    """The nodes on which it was seen; a pod that waits for nodes is struck itself, and so is a DaemonSet."""
    of_nodes = failed.about.partition("/")[0] in ("node", "nodes") and subject.stage is not Stage.SCHEDULING
    return failed.nodes or affected if of_nodes else affected or failed.nodes


def applies(rule: Rule, subject: Subject, runtime: str = "") -> bool:
    """Whether a rule speaks about a subject: its stage, whether it asks for a GPU, and its node's runtime, if known."""
    if runtime and rule.runtime not in ("", runtime):
        return False
    return subject.stage in rule.stages and (rule.asks_gpu is None or rule.asks_gpu == subject.asks_gpu)


def _runtime(subject: Subject, facts: Common) -> str:
    """The runtime of the node that a subject is, or is on; "" where that is not known."""
    name = subject.node.name if subject.node else subject.pod.spec.node_name if subject.pod else ""
    known = facts.get("runtimes")
    return "" if isinstance(known, Missing) else known.get(name, "")


def outcome(rule: Rule, facts: Facts) -> Outcome:
    """One rule's outcome about one subject."""
    return outcome_of(rule, arguments(rule.needs, facts))


def _skipped(told: list[tuple[Rule, Outcome]], subject: Subject, facts: Facts) -> tuple[NotChecked, ...]:
    return tuple(
        NotChecked(r.id, o.reason, how_to(o, subject, facts), o.decides and not serves_as_told(subject))
        for r, o in told
        if isinstance(o, Skipped)
    )


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


def _not_kept(part: LeftOut) -> NotChecked:
    return NotChecked(part.section.replace("_", "-"), part.reason, part.how, part.decides)


def _unseen(count: int) -> tuple[NotChecked, ...]:
    if not count:
        return ()
    left_out = counted(count, "more pod that is not well was", "more pods that are not well were")
    reason = f"{left_out} not looked at; ask about one of them, or mend these first"
    return (NotChecked("cluster", reason, "kubectl gpu why pod/NAME -n NAMESPACE", decides=False),)


def _still_out(answers: list[Answers], findings: tuple[Finding, ...]) -> tuple[RuledOut, ...]:
    """What is ruled out for every subject; one pod's pass does not speak for another's fault."""
    failed = {f.id for f in findings}
    first: dict[str, RuledOut] = {}
    for item in (r for a in answers for r in a.ruled_out if r.id not in failed):
        first.setdefault(item.id, item)
    return tuple(sorted(first.values(), key=lambda r: r.id))
