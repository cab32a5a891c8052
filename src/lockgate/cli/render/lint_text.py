"""A lint report for a terminal of 100 columns, as compilers print: severity, id, the lines with marks, what heals."""

import sys
import textwrap
from collections.abc import Iterator
from typing import Final, TextIO

from lockgate.cli.render.lines import WIDTH
from lockgate.cli.render.text import Paint, paint_for
from lockgate.kit.counted import counted
from lockgate.lint.report import Line, LintFinding, LintReport
from lockgate.model.finding import Severity

_COLOURS: Final = {
    Severity.BLOCKER: "red",
    Severity.ERROR: "red",
    Severity.WARNING: "yellow",
    Severity.INFO: "cyan",
}


def print_report(report: LintReport, *, no_color: bool, out: TextIO | None = None) -> None:
    """Write a report to a stream (standard output), in colours if it is a terminal and nobody forbids them."""
    stream = out or sys.stdout
    for line in render_report(report, paint_for(stream, no_color=no_color)):
        stream.write(f"{line}\n")


def render_report(report: LintReport, paint: Paint) -> Iterator[str]:
    """The lines of a report."""
    for finding in report.findings:
        yield from _finding(finding, paint)
        yield ""
    for suppressed in report.suppressed:
        yield from _wrap(f"suppressed: {suppressed.finding.id} ({suppressed.reason})", "  ")
    for open_ in report.not_checked:
        yield from _wrap(f"not checked: {open_.reason}; to know it: {open_.how}", "  ")
    yield _total(report)


def _finding(finding: LintFinding, paint: Paint) -> Iterator[str]:
    head = f"{finding.severity.value}[{finding.id}]"
    where = f" on {finding.node}" if finding.node else ""
    first, *more = _wrap(f"{head}: {finding.title}{where}", "  ")
    yield paint(_COLOURS[finding.severity], first[: len(head)]) + paint("bold", first[len(head) :])
    yield from (paint("bold", line) for line in more)
    yield from _wrap(finding.summary, "  ", first="  ")
    width = max((len(str(line.line)) for line in finding.lines), default=1)
    for number, line in enumerate(finding.lines):
        yield from _line(line, width, paint, _COLOURS[finding.severity] if not number else "cyan")
    if finding.help:
        yield from _wrap(f"help: {finding.help}", "        ", first="  = ")
    if finding.fix:
        yield from _wrap(f"fix: {finding.fix} (`--diff` shows it, `--fix` writes it)", "        ", first="  = ")


def _line(line: Line, width: int, paint: Paint, colour: str) -> Iterator[str]:
    gutter = " " * (width + 1)
    place = f"{line.file}:{line.line}" if line.line else line.file
    yield from (paint("dim", part) for part in _wrap(place, gutter + "    ", first=f"{gutter}--> "))
    if not line.line:
        yield from _wrap(line.note, f"{gutter}  ", first=f"{gutter}= ")
        return
    shown, start, marked = _window(line, WIDTH - width - 4)
    yield f"{paint('dim', f'{line.line:>{width}} |')}{gutter and ' '}{shown}"
    under = " " * start + "^" * marked
    yield from _under(under, line.note, gutter, paint, colour)


def _under(under: str, note: str, gutter: str, paint: Paint, colour: str) -> Iterator[str]:
    """The marks with the note behind them, or below where it does not fit."""
    bar = paint("dim", f"{gutter}|")
    if len(gutter) + 2 + len(under) + 1 + len(note) <= WIDTH:
        yield f"{bar} {paint(colour, f'{under} {_printable(note)}'.rstrip())}"
        return
    yield f"{bar} {paint(colour, under)}"
    for part in textwrap.wrap(_printable(note), WIDTH - len(gutter) - 3, break_on_hyphens=False):
        yield f"{bar} {paint(colour, part)}"


def _window(line: Line, room: int) -> tuple[str, int, int]:
    """The part of a line that fits and holds the mark, where the mark starts in it, and how long it is."""
    text = _printable(line.text.expandtabs(1))
    start, marked = line.column - 1, max(line.end_column - line.column, 1)
    if len(text) <= room:
        return text, start, marked
    cut = max(0, min(start - 10, len(text) - room + 3))
    shown = ("..." if cut else "") + text[cut:]
    at = start - cut + (3 if cut else 0)
    shown = shown if len(shown) <= room else f"{shown[: room - 3]}..."
    return shown, at, max(1, min(marked, len(shown) - at))


def _total(report: LintReport) -> str:
    counts = dict.fromkeys(reversed(Severity), 0)
    for finding in report.findings:
        counts[finding.severity] += 1
    said = ", ".join(counted(n, s.value, s.value if s is Severity.INFO else "") for s, n in counts.items() if n)
    fixable = sum(1 for finding in report.findings if finding.fix)
    healed = f"; --fix heals {fixable}" if fixable else ""
    files = counted(len(report.linted), "file")
    if said:
        return f"{said}{healed} ({files})"
    partly = ", as far as they were checked" if report.not_checked else ""
    return f"nothing to say about {files}{partly}"


def _wrap(text: str, indent: str, *, first: str = "") -> list[str]:
    lines = textwrap.wrap(
        _printable(" ".join(text.split())),
        WIDTH,
        initial_indent=first,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return lines or [first]


def _printable(text: str) -> str:
    """The text without what a terminal would obey: a file may hold anything."""
    return "".join(char if char.isprintable() else "?" for char in text)
