"""Runs the rules over a subject, sorts out what is suppressed, and offers only fixes that proved to heal."""

from collections.abc import Iterator, Sequence

from lockgate.lint.heal import healing
from lockgate.lint.parts import together
from lockgate.lint.problems import Seen, problems
from lockgate.lint.release_doubt import release_doubt
from lockgate.lint.report import Line, LintFinding, LintReport, Suppressed
from lockgate.lint.rule import LintRule, Mark
from lockgate.lint.subject import Subject
from lockgate.lint.suppress import WITHOUT_REASON, Ignore, reason_for, unreasoned
from lockgate.model.finding import NotChecked, Severity

RENDER = "render it first: `helm template CHART | kubectl gpu lint -`, or `kubectl kustomize DIR | kubectl gpu lint -`"
_CORRECT = "correct that line: it is no YAML, so nothing of the file was judged"

_LONGEST = 500  # characters of a line that is shown


def lint(subject: Subject, rules: Sequence[LintRule], ignores: Sequence[Ignore] = ()) -> LintReport:
    """What the rules find; a fix is named only when a simulation showed that it heals and changes nothing else."""
    findings, suppressed = [], []
    for seen in problems(subject, rules):
        finding = _finding(subject, seen, rules)
        reason = reason_for(subject, seen, ignores)
        if reason is None:
            findings.append(finding)
        else:
            suppressed.append(Suppressed(finding, reason))
    findings += [_without_reason(subject, mark) for mark in unreasoned(subject)]
    return LintReport(
        findings=tuple(sorted(findings, key=_order)),
        suppressed=tuple(suppressed),
        not_checked=_not_checked(subject),
        linted=tuple(sorted(subject.show(path) for path in subject.files)),
    )


def fix_all(
    subject: Subject, rules: Sequence[LintRule], writable: frozenset[str], ignores: Sequence[Ignore] = ()
) -> dict[str, str]:
    """The new texts of the files that change once every offered fix is written, one by one; only `writable` ones."""
    current = subject
    for _ in range(100):  # each turn heals one finding, of manifests one in each document
        edits = _next_edits(current, rules, writable, ignores)
        if edits is None:
            break
        current = current.edited(edits)
    return {path: current.text(path) for path in current.files if current.files[path] != subject.files.get(path)}


def _next_edits(
    subject: Subject, rules: Sequence[LintRule], writable: frozenset[str], ignores: Sequence[Ignore]
) -> dict[str, str] | None:
    fixes = (
        fix
        for seen in problems(subject, rules)
        if reason_for(subject, seen, ignores) is None and (fix := healing(subject, seen, rules, writable)) is not None
    )
    if not subject.holds_manifests:
        return next((dict(fix.files) for fix in fixes), None)
    edits: dict[str, list[str]] = {}
    for fix in fixes:
        for path, text in fix.files.items():
            edits.setdefault(path, []).append(text)
    return {path: together(subject.text(path), texts) for path, texts in edits.items()} or None


def _finding(subject: Subject, seen: Seen, rules: Sequence[LintRule]) -> LintFinding:
    rule, problem = seen
    fix = healing(subject, seen, rules)
    return LintFinding(
        id=rule.id,
        codes=rule.codes if problem.codes is None else problem.codes,
        title=problem.title or rule.title,
        severity=problem.severity or rule.severity,
        node=subject.name,
        summary=problem.summary,
        lines=tuple(line_of(subject, mark) for mark in problem.marks),
        help=problem.help,
        fix=fix.text if fix else "",
        key=problem.key,
    )


def line_of(subject: Subject, mark: Mark) -> Line:
    """A mark with the text of its line, and the columns of it that are underlined.

    Of a very long line (a whole document on one) it is the text around the mark, and the columns count there.
    """
    text = _around(subject.line(mark.file, mark.line), mark.needle)
    at = text.find(mark.needle) if mark.needle else -1
    if at >= 0:
        return Line(subject.show(mark.file), mark.line, at + 1, at + 1 + len(mark.needle), text, mark.note)
    start = len(text) - len(text.lstrip())
    return Line(subject.show(mark.file), mark.line, start + 1, max(len(text.rstrip()), start) + 1, text, mark.note)


def _around(text: str, needle: str) -> str:
    first = max(text.find(needle) - _LONGEST // 2, 0) if needle else 0
    return text[first : first + _LONGEST] if len(text) > _LONGEST else text


def _without_reason(subject: Subject, mark: Mark) -> LintFinding:
    return LintFinding(
        id=WITHOUT_REASON,
        codes=(),
        title="A finding is ignored without a reason",
        severity=Severity.WARNING,
        node=subject.name,
        summary="the comment has no effect until it says why: # lockgate: ignore <id> -- <reason>",
        lines=(line_of(subject, mark),),
        key=f"{mark.file}:{mark.line}",
    )


def _order(finding: LintFinding) -> tuple[int, str, str, int]:
    first = finding.lines[0] if finding.lines else None
    return -finding.severity.rank, finding.id, first.file if first else "", first.line if first else 0


def _not_checked(subject: Subject) -> tuple[NotChecked, ...]:
    where = f" of {subject.name}" if subject.name else ""
    doubt = release_doubt(subject)
    open_ = [doubt] if doubt else []
    if subject.withheld:
        paths = " and ".join(subject.withheld)
        how = f"copy the file from the node and run `lint {subject.withheld[0].rpartition('/')[2]}`"
        open_.append(
            NotChecked("cdi", f"{paths}{where}: too long to be published, known by its names alone", how, False)
        )
    return (*open_, *_unread(subject))


def _unread(subject: Subject) -> Iterator[NotChecked]:
    """Manifests that are no YAML (yet), or could not be read."""
    for path, missing in subject.unread.items():
        yield NotChecked("manifest", f"{subject.show(path)}: {missing.reason}", missing.how)
    for path, why in (subject.manifests.read[1] if subject.holds_manifests else {}).items():
        how = RENDER if "{{" in subject.text(path) else _CORRECT
        yield NotChecked("manifest", f"{subject.show(path)}: {why}", how)
