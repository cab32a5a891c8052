"""What a diagnosis is made of: findings with evidence and remedies, what was ruled out, what could not be checked."""

import datetime as dt
import enum

import msgspec

from lockgate.model import names


class Severity(enum.StrEnum):
    """How bad a finding is, from a remark to something that keeps the workload from running at all."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    BLOCKER = "blocker"

    @property
    def rank(self) -> int:
        """0 for info up to 3 for blocker."""
        return tuple(Severity).index(self)


class Verdict(enum.StrEnum):
    """The answer in one word; every diagnosis has exactly one."""

    HEALTHY = "healthy"  # nothing is wrong
    BROKEN = "broken"  # a GPU fault is named
    NOT_GPU = "not-gpu"  # the cause is named, and it is not a GPU fault
    WARNING = "warning"  # it runs, with something to look at
    WAITING = "waiting"  # on its way: no fault is seen, and it does not run yet
    UNKNOWN = "unknown"  # something is wrong, or may be, and no rule can name it


class Value(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A value of the report; absent fields are left out of its JSON."""


class Evidence(Value, frozen=True):
    """One observed fact: where it was read (`object`, `file` or `command`), what was read, verbatim where it is a text.

    `object` is `kind/name` or `kind/namespace/name`; `value` is for a field, `verbatim` for an event, a log line or a
    line of a file; `note` says in a few words what it means.
    """

    object: str = ""
    file: str = ""
    line: int | None = None
    command: str = ""
    field: str = ""
    value: str = ""
    verbatim: str = ""
    note: str = ""


class Risk(enum.StrEnum):
    """What following a remedy can disturb."""

    NONE = "none"  # only looks
    LOW = "low"  # touches the workload that is asked about
    MEDIUM = "medium"  # touches other workloads, or an operand of one node
    HIGH = "high"  # touches every workload of a node, or several nodes


class Remedy(Value, frozen=True, omit_defaults=False):
    """What mends it: a sentence, a command that can be pasted (may be empty), and what that can disturb."""

    text: str
    command: str = ""
    risk: Risk = Risk.LOW


class Finding(Value, frozen=True, omit_defaults=False):
    """A named cause. `id` is the rule's place (`scheduling/all-held`), `codes` the catalogue entries it covers here.

    `about` is the object that is at fault, `follows` the id of the finding that causes this one (a follower is shown
    under its cause), `gpu` is False when the cause has nothing to do with GPUs and None when that cannot be told.
    """

    id: str
    codes: tuple[str, ...]
    title: str
    severity: Severity
    about: str
    summary: str
    evidence: tuple[Evidence, ...] = ()
    remedy: tuple[Remedy, ...] = ()
    gpu: bool | None = True
    follows: str = ""
    affects: tuple[str, ...] = ()


class RuledOut(Value, frozen=True, omit_defaults=False):
    """A cause that was looked for and is not there, with the observation that says so."""

    id: str
    reason: str


class NotChecked(Value, frozen=True, omit_defaults=False):
    """A question that stayed open: why, how to get what is lacking, and whether the answer could change the verdict.

    `id` is a rule's; where several rules would have looked into a section it is the section's, and `rules` names them.
    """

    id: str
    reason: str
    how: str = ""
    decides: bool = True
    rules: tuple[str, ...] = ()


class Waived(Value, frozen=True, omit_defaults=False):
    """A finding that is there and that somebody has waived: why, until which day (None: for ever), and where."""

    finding: Finding
    reason: str
    until: dt.date | None = None
    source: str = ""


class VoidWaiver(Value, frozen=True, omit_defaults=False):
    """A waiver without effect, as it was written: what is wrong with it (it expired, it has no reason), and where."""

    text: str
    problem: str
    source: str = ""


class Tool(Value, frozen=True, omit_defaults=False):
    name: str = "lockgate"
    version: str = ""


class Source(Value, frozen=True, omit_defaults=False):
    """Where the facts came from: `live` (a cluster) or `files`; `name` is the context or path, `taken_at` when."""

    kind: str
    name: str = ""
    taken_at: dt.datetime | None = None


class TargetRef(Value, frozen=True, omit_defaults=False):
    kind: str
    name: str
    namespace: str = ""


class Diagnosis(Value, frozen=True, omit_defaults=False):
    """The whole answer about one target; findings are ordered, root causes first, each followed by its followers."""

    target: TargetRef
    verdict: Verdict
    headline: str
    findings: tuple[Finding, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    waived: tuple[Waived, ...] = ()
    void_waivers: tuple[VoidWaiver, ...] = ()
    next: tuple[Remedy, ...] = ()
    api_version: str = names.API_VERSION
    kind: str = "Diagnosis"
    generated_at: dt.datetime | None = None
    tool: Tool = Tool()
    source: Source = Source(kind="files")

    @property
    def exit_code(self) -> int:
        """0 nothing wrong, 3 a finding of error or blocker, 4 only warnings or something decisive not checked."""
        worst = max((f.severity.rank for f in self.findings), default=0)
        if worst >= Severity.ERROR.rank:
            return 3
        if worst == Severity.WARNING.rank or self.verdict in (Verdict.UNKNOWN, Verdict.WAITING):
            return 4
        return 4 if any(n.decides for n in self.not_checked) else 0
