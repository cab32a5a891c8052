"""What was not read and could change the answer, a line a section, with the rules that would have looked there.

A rule that may do without a section looks elsewhere when that is Missing; if it finds nothing there, it stays open.
Which sections tell of a subject is a matter of its stage: who else holds a GPU does not say why a container fails.

Statuses decide, words explain. Where the status of what is asked about was not read (the pods of a node), nobody knows
whether it is well. Where its status says that it is well, words that nobody read (a log, an event, a file) are told and
decide nothing; where it is not well and no cause is named, they decide.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from lockgate.diagnosis.device_plugins import named_plugin
from lockgate.diagnosis.rule import Failed, Outcome, Rule, Skipped
from lockgate.diagnosis.seen import scheduler_text
from lockgate.diagnosis.stage import Stage, statuses
from lockgate.diagnosis.subject import Facts, Subject, sections_read
from lockgate.diagnosis.unread_logs import unread_logs
from lockgate.diagnosis.ways import COLLECT, PROBE, UNSEEN, read_log, read_node
from lockgate.kit.by_identity import by_two
from lockgate.kit.counted import counted
from lockgate.kit.untyped import mapping_at
from lockgate.model.facts import API_SECTIONS, Missing, Snapshot
from lockgate.model.finding import NotChecked, Severity
from lockgate.model.objects import PodSpec
from lockgate.model.pod_state import has_run

# What a node says itself: its files and its kernel's log, copied from it or published by its agents.
_OF_NODE: Final = ("node_files", "node_states")
_OF_CONTAINERS: Final = ("events", "logs", "nodes", *_OF_NODE)
# Where faults are told at a stage, beside what rules cannot do without.
TELLS: Final[Mapping[Stage, tuple[str, ...]]] = {
    Stage.NO_POD: ("events", "runtime_classes"),
    Stage.SCHEDULING: ("events", "pods", "persistent_volume_claims", "resource_claims"),
    Stage.ADMISSION: ("events",),
    Stage.CREATING: (*_OF_CONTAINERS, "runtime_classes"),
    Stage.RUNNING: _OF_CONTAINERS,
    Stage.FAILED: _OF_CONTAINERS,
    Stage.SUCCEEDED: ("logs",),
    Stage.TERMINATING: ("nodes",),
    Stage.REPLACED: (),
    Stage.NODE: ("pods", "events", "logs", "runtime_classes", *_OF_NODE),
    Stage.OPERAND: ("pods", "events", "logs"),
    Stage.CLUSTER: ("pods", "logs", "cluster_policies", "nvidia_drivers"),
}
_DRIVER_CRD: Final = "useNvidiaDriverCRD"
_WHOLE: Final = (Stage.NODE, Stage.OPERAND, Stage.CLUSTER)


def unread(
    subject: Subject, told: Sequence[tuple[Rule, Outcome]], asked: tuple[Rule, ...], facts: Facts
) -> Iterator[NotChecked]:
    """The sections that rules without a word could not look into, unless a cause is named or they are open already."""
    yield from _uncounted(subject, facts)
    if any(_names(rule, outcome) for rule, outcome in told):
        return
    hows = tuple(outcome.how for _, outcome in told if isinstance(outcome, Skipped))
    heard = {rule.id for rule, _ in told}
    for section in TELLS[subject.stage]:
        lacking = _lacking(section, subject, facts)
        if lacking is None or any(how.startswith(lacking.how) for how in hows if section not in _OF_NODE):
            continue
        rules = tuple(rule.id for rule in _looking(asked, section, facts) if rule.id not in heard)
        if rules:
            decides = _decides(section, subject, facts)
            yield NotChecked(section.replace("_", "-"), lacking.reason, lacking.how, decides, rules)


def _uncounted(subject: Subject, facts: Facts) -> Iterator[NotChecked]:
    """That the scheduler counts at least twice as many nodes as are known: somebody gave a part of them.

    A few more are none the wiser: nodes come and go, and its text stays.
    """
    nodes = facts.get("nodes")
    if subject.pod is None or subject.stage is not Stage.SCHEDULING or isinstance(nodes, Missing):
        return
    events = facts.get("pod_events")
    _, text = scheduler_text(subject.pod, () if isinstance(events, Missing) else events)
    if text is not None and text.nodes >= 2 * len(nodes) and text.nodes > len(nodes):
        known = f"the scheduler counts {text.nodes} nodes, and {counted(len(nodes), 'is', 'are')} known"
        reason = f"{known}: nothing here is said of the others"
        yield NotChecked("nodes", reason, "kubectl get nodes -o json", decides=True)


def serves_as_told(subject: Subject) -> bool:
    """Whether a description tells that a node serves: every device is healthy, and it names the plugin's pod there."""
    rows = subject.gate.rows if subject.gate and named_plugin(subject.node) else ()
    return any(row.allocatable == row.capacity > 0 for row in rows)


def how_to(skipped: Skipped, subject: Subject, facts: Facts) -> str:
    """How what a rule lacks is read: a log by the command for this very subject."""
    logs = facts.get("logs")
    lacks_logs = isinstance(logs, Missing) and (skipped.reason, skipped.how) == (logs.reason, logs.how)
    return _how("logs", logs, subject) if lacks_logs else skipped.how


def hiding(snapshot: Snapshot, through: Iterable[str]) -> Iterator[NotChecked]:
    """That sections which were gone through for what lacks pods were not read: nothing tells whether any does."""
    lacking = {s: m for s in through if isinstance(m := getattr(snapshot, s), Missing) and _is_open(m)}
    if lacking:
        names = ", ".join(section.replace("_", " ") for section in lacking)
        reason = f"whether a workload lacks its pods is not known: {names} were not read"
        yield NotChecked("workloads", reason, _all_of(lacking))


def _all_of(lacking: Mapping[str, Missing]) -> str:
    """One command for all of them, or the permissions."""
    if any(_needs_permission(missing) for missing in lacking.values()):
        return "; ".join(dict.fromkeys(missing.how for missing in lacking.values()))
    plurals = ",".join(s.plural for s in API_SECTIONS if s.section in lacking)
    return f"kubectl get {plurals} -A -o json"


def together(questions: Iterable[NotChecked]) -> tuple[NotChecked, ...]:
    """What is open for several subjects said once, what decides first.

    What lacks for one reason decides for all who ask for it, where it decides for one.
    """
    alike: dict[tuple[str, str], list[NotChecked]] = {}
    for question in _of_unseen_nodes(questions):
        alike.setdefault((question.id, question.reason), []).append(question)
    every = [_one(same) for same in alike.values()]
    deciding = {(n.reason, n.how) for n in every if n.decides}
    open_ = (msgspec.structs.replace(n, decides=(n.reason, n.how) in deciding) for n in every)
    return tuple(sorted(open_, key=lambda n: (not n.decides, n.id, n.reason)))


def _of_unseen_nodes(questions: Iterable[NotChecked]) -> Iterator[NotChecked]:
    """Of a node that nothing was read from no part is told by itself: its kernel's log comes the same way."""
    questions = tuple(questions)
    ways = {n.how for n in questions if n.reason == UNSEEN}
    for question in questions:
        way = question.how.partition(";")[0]
        yield msgspec.structs.replace(question, reason=UNSEEN, how=way) if way in ways else question


def _one(same: Sequence[NotChecked]) -> NotChecked:
    hows = tuple(dict.fromkeys(n.how for n in same))
    nodes = len(hows) > 1 and all(how.startswith(f"{PROBE} ") for how in hows)
    rules = tuple(dict.fromkeys(rule for alike in dict.fromkeys(n.rules for n in same) for rule in alike))
    how = f"{PROBE} all" if nodes else hows[0]
    return msgspec.structs.replace(same[0], how=how, decides=any(n.decides for n in same), rules=rules)


def _names(rule: Rule, outcome: Outcome) -> bool:
    """Whether a cause is named: something that keeps it from running, and no symptom of which nothing can be told."""
    if not isinstance(outcome, Failed) or rule.gpu is None:
        return False
    return (outcome.severity or rule.severity).rank >= Severity.ERROR.rank


def _looking(asked: tuple[Rule, ...], section: str, facts: Facts) -> tuple[Rule, ...]:
    """The rules that would have read a section: those of the stack read on only where its pods are not well."""
    readers, others = _readers(asked, section)
    if len(others) == len(readers) or section == "pods" or facts.get("ailing").nodes:
        return readers
    return others


@by_two
def _readers(asked: tuple[Rule, ...], section: str) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """The rules that read a section, and those of them that are not of the stack."""
    readers = tuple(rule for rule in asked if section in sections_read(rule.needs))
    return readers, tuple(rule for rule in readers if all(need.name != "ailing" for need in rule.needs))


def _told_in(section: str, subject: Subject) -> str:
    """Where a section is looked up: the events may be there, and have been gathered for other pods alone."""
    if section != "events" or subject.stage in _WHOLE:
        return section
    return "pod_events" if subject.pod else "workload_events"


def _lacking(section: str, subject: Subject, facts: Facts) -> Missing | None:
    """Why a section is not known and how to read it, where it is to be had and could say something of the subject."""
    if section in _OF_NODE:
        return _of_node(section, subject, facts)
    missing = facts.get(_told_in(section, subject))
    if section == "logs" and not isinstance(missing, Missing):
        missing = unread_logs(subject, facts)
    if not isinstance(missing, Missing) or not _concerns(section, subject, facts):
        return None
    readable = _is_open(missing) or section == "logs"
    return msgspec.structs.replace(missing, how=_how(section, missing, subject)) if readable else None


def _is_open(section: object) -> bool:
    """Whether a section was not read and may be had: there is a way to it, and the cluster has such a kind."""
    return isinstance(section, Missing) and bool(section.how) and not section.unserved


def _of_node(section: str, subject: Subject, facts: Facts) -> Missing | None:
    """Either way to what a node says itself will do; of a node that is asked about it is said where neither is open."""
    name = subject.node.name if subject.node else subject.pod.spec.node_name if subject.pod else ""
    if not name or section != _OF_NODE[0] or name in facts.get("read_nodes"):
        return None
    missing = next((way for way in map(facts.get, _OF_NODE) if _is_open(way)), None)
    if missing is None and subject.stage is not Stage.NODE:
        return None
    return Missing(UNSEEN, missing.how if missing and _needs_permission(missing) else read_node(name))


def _concerns(section: str, subject: Subject, facts: Facts) -> bool:
    """Whether a section can say something of a subject: a pod that names no claim is not held up by one."""
    spec, state = _spec(subject), () if subject.pod is None else statuses(subject.pod)
    match section:
        case "nvidia_drivers":
            return _describes_drivers(facts)
        case _ if subject.stage in _WHOLE:
            return True
        case "logs":
            return any(map(has_run, state))
        case "runtime_classes":
            return bool(spec.runtime_class_name)
        case "persistent_volume_claims":
            return any(v.persistent_volume_claim or v.ephemeral for v in spec.volumes)
        case "resource_claims":
            return bool(spec.resource_claims)
        case _:
            return True


def _describes_drivers(facts: Facts) -> bool:
    """Whether a policy leaves the driver to NVIDIADriver objects."""
    policies = facts.get("cluster_policies")
    known = () if isinstance(policies, Missing) else policies
    return any(mapping_at(policy.spec, "driver").get(_DRIVER_CRD) for policy in known)


def _spec(subject: Subject) -> PodSpec:
    if subject.pod is not None:
        return subject.pod.spec
    return subject.workload.spec.template.spec if subject.workload else PodSpec()


def _decides(section: str, subject: Subject, facts: Facts) -> bool:
    match subject.stage:
        case Stage.NODE:  # its operands say whether it is well, and may be known where what others hold is not
            unknown = isinstance(facts.get("namespace_pods"), Missing) and not serves_as_told(subject)
            return section == "pods" and unknown
        case Stage.CLUSTER:
            return section == "pods"
        case Stage.OPERAND:  # its own status counts them
            return section == "pods" and not _is_complete(subject)
        case _:
            return not subject.well and section not in _OF_NODE


def _is_complete(subject: Subject) -> bool:
    status = subject.operand.status if subject.operand else None
    return status is not None and status.number_ready >= status.desired_number_scheduled


def _how(section: str, missing: Missing, subject: Subject) -> str:
    """The command that reads it here; a permission that lacks comes first."""
    if section != "logs" or _needs_permission(missing):
        return missing.how
    if subject.pod is None or subject.stage in _WHOLE:
        return COLLECT
    return read_log(subject.pod)


def _needs_permission(missing: Missing) -> bool:
    return missing.refused or missing.how.startswith("RBAC")
