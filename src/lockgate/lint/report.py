"""What a lint run answers: findings with their lines, what was suppressed and why, and what could not be judged."""

import msgspec

from lockgate.model import names
from lockgate.model.finding import NotChecked, Severity, Tool


class Value(msgspec.Struct, frozen=True, rename="camel"):
    """A value of the report."""


class Line(Value, frozen=True):
    """A line that shows the fault; columns are 1-based, `end_column` is behind the marked part. Line 0 is the file."""

    file: str
    line: int
    column: int
    end_column: int
    text: str
    note: str = ""


class LintFinding(Value, frozen=True):
    """One fault. `fix` says what `--fix` would write, "" where no edit is known to heal it and nothing else."""

    id: str
    codes: tuple[str, ...]
    title: str
    severity: Severity
    node: str
    summary: str
    lines: tuple[Line, ...] = ()
    help: str = ""
    fix: str = ""
    key: str = ""


class Suppressed(Value, frozen=True):
    """A finding that a person does not want to see, with the reason that was given."""

    finding: LintFinding
    reason: str


class LintReport(Value, frozen=True):
    """The whole answer; findings are ordered, the gravest first. `linted` are the files that were read."""

    findings: tuple[LintFinding, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    linted: tuple[str, ...] = ()
    api_version: str = names.API_VERSION
    kind: str = "Lint"
    tool: Tool = Tool()

    @property
    def exit_code(self) -> int:
        """0 nothing to say, 3 a finding of severity error or blocker, 4 only warnings or something decisive unknown."""
        worst = max((f.severity.rank for f in self.findings), default=0)
        if worst >= Severity.ERROR.rank:
            return 3
        return 4 if worst == Severity.WARNING.rank or any(n.decides for n in self.not_checked) else 0
