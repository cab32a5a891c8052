"""A diagnosis as Markdown, to be pasted into an issue."""

from collections.abc import Iterable, Iterator, Sequence

from lockgate.cli.render.lines import MOST_EVIDENCE, bounded, few
from lockgate.cli.render.questions import open_questions
from lockgate.model.finding import Diagnosis, Evidence, Finding, Remedy


def render_markdown(diagnosis: Diagnosis) -> str:
    """Verdict, causes with their evidence, what is ruled out and open, and what to do."""
    return "\n".join(_lines(diagnosis)).rstrip() + "\n"


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    yield f"**{diagnosis.verdict.value.upper()}**: {plain(diagnosis.headline)}"
    yield ""
    for finding in diagnosis.findings:
        yield from finding_lines(finding)
    if diagnosis.waived:
        yield from ("### Waived", "")
        for waived in diagnosis.waived:
            until = f" until {waived.until}" if waived.until else ""
            said = f"{waived.finding.summary} {waived.reason} (waived{until} by {waived.source})"
            yield f"- `{waived.finding.id}`, {waived.finding.severity.value}: {plain(said)}"
        yield ""
    yield from void_lines(diagnosis)
    if diagnosis.ruled_out:
        yield from ("### Ruled out", "")
        yield from (f"- `{item.id}`: {plain(item.reason)}" for item in diagnosis.ruled_out)
        yield ""
    yield from _open_lines(diagnosis)
    remedies = list(dict.fromkeys(r for f in diagnosis.findings if not f.follows for r in f.remedy))
    if remedies:
        yield from ("### Next", "")
        for remedy in remedies:
            yield from _remedy(remedy)


def _open_lines(diagnosis: Diagnosis) -> Iterator[str]:
    left = open_questions(diagnosis)
    for group in left.groups:
        yield from (f"### {group.heading}", "")
        for question in group.questions:
            how = f" To know it: `{question.how}`" if question.how else ""
            rules = f" (open: {question.rules})" if question.rules else ""
            yield f"- {plain(question.reason)}.{how}{rules}"
        yield from (f"- {group.more}", "") if group.more else ("",)
        yield from (plain(group.hint), "") if group.hint else ()
    yield from (plain(left.needless), "") if left.needless else ()


def void_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """Waivers that waive nothing, and why."""
    if diagnosis.void_waivers:
        yield from ("### Waivers without effect", "")
        yield from (f"- {plain(f'{v.source}: {v.text}: {v.problem}')}" for v in diagnosis.void_waivers)
        yield ""


def finding_lines(finding: Finding) -> Iterator[str]:
    """One finding with its evidence."""
    codes = f" ({', '.join(finding.codes)})" if finding.codes else ""
    under = f", follows from `{finding.follows}`" if finding.follows else ""
    yield f"### {plain(finding.title)}"
    yield ""
    yield f"`{finding.id}`{codes}, {finding.severity.value}{under}. {plain(finding.summary)}"
    yield ""
    if finding.affects:
        yield f"Affected: {few(f'`{name}`' for name in finding.affects)}"
        yield ""
    shown, more = bounded(finding.evidence, MOST_EVIDENCE, "of the kind")
    if shown:
        yield from table(("where", "seen", "note"), map(_row, shown))
    if more:
        yield from (more, "")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table and the blank line below it."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    yield from (f"| {' | '.join(map(_cell, row))} |" for row in rows)
    yield ""


def _row(seen: Evidence) -> tuple[str, str, str]:
    place = seen.file or seen.object or seen.command
    line = f":{seen.line}" if seen.line else ""
    where = f"{place}{line} {seen.field}".strip()
    said = " ".join(part for part in (seen.value, f'"{seen.verbatim}"' if seen.verbatim else "") if part)
    return where, said, seen.note


def _remedy(remedy: Remedy) -> Iterator[str]:
    yield f"- {plain(remedy.text)}"
    if remedy.command:
        yield from ("", "  ```", f"  {remedy.command}", "  ```", "")


def plain(text: str) -> str:
    """A text on one line; what Markdown would take for markup keeps its looks."""
    return " ".join(text.split()).replace("<", "&lt;").replace("*", "\\*")


def _cell(text: str) -> str:
    return plain(text).replace("|", "\\|")
