"""A diagnosis for a terminal of 100 columns: verdict, evidence, what is ruled out, open, and next."""

import os
import re
import sys
import textwrap
from collections.abc import Iterator
from typing import Final, TextIO

from lockgate.cli.render.causes import causes
from lockgate.cli.render.lines import MOST_EVIDENCE, WIDTH, bounded, few
from lockgate.cli.render.questions import open_questions
from lockgate.diagnosis.target import TOLD
from lockgate.kit.counted import counted
from lockgate.model.finding import Diagnosis, Evidence, Finding, Remedy, Severity, Verdict

_STYLES: Final = {"bold": "1", "dim": "2", "red": "1;31", "green": "1;32", "yellow": "1;33", "cyan": "36"}
_WORDS: Final = {
    Verdict.HEALTHY: ("HEALTHY", "green"),
    Verdict.BROKEN: ("BROKEN", "red"),
    Verdict.NOT_GPU: ("NOT A GPU FAULT", "yellow"),
    Verdict.WARNING: ("WARNING", "yellow"),
    Verdict.WAITING: ("WAITING", "yellow"),
    Verdict.UNKNOWN: ("UNKNOWN", "yellow"),
}
_RISKS: Final = {"medium": "touches other pods", "high": "touches every pod of a node"}


class Paint:
    """Colours, or none where nobody could see them."""

    def __init__(self, on: bool) -> None:
        self._on = on

    def __call__(self, style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._on and text else text


def paint_for(stream: TextIO, *, no_color: bool) -> Paint:
    """Colours where the stream is a terminal that has some and nobody forbids them (https://no-color.org)."""
    forbidden = no_color or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Paint(stream.isatty() and not forbidden)


def print_text(diagnosis: Diagnosis, *, no_color: bool, out: TextIO | None = None) -> None:
    """Write a diagnosis to a stream (standard output), in colours if it is a terminal and nobody forbids them."""
    stream = out or sys.stdout
    for line in render_text(diagnosis, paint_for(stream, no_color=no_color)):
        stream.write(f"{line}\n")


def render_text(diagnosis: Diagnosis, paint: Paint) -> Iterator[str]:
    """The lines of a diagnosis."""
    yield from _verdict(diagnosis, paint)
    every = causes(diagnosis.findings)
    for number, (root, below) in enumerate(every, 1):
        yield from _cause(diagnosis, root, below, number if len(every) > 1 else 0, paint)
    yield from _waived(diagnosis, paint)
    yield from _ruled_out(diagnosis, paint)
    yield from _not_checked(diagnosis, paint)
    yield from _next([root for root, _ in every], paint)


# --- the verdict


def _verdict(diagnosis: Diagnosis, paint: Paint) -> Iterator[str]:
    word, colour = _WORDS[diagnosis.verdict]
    target = diagnosis.target
    where = f" in {target.namespace}" if target.namespace else ""
    first = leading(diagnosis)
    said = f"{named(diagnosis)}{where}: {first.title}" if first else diagnosis.headline
    head, *more = _wrap(f"{word}  {said}", 2, first=0)
    yield paint(colour, word) + paint("bold", head.removeprefix(word))
    yield from (paint("bold", line) for line in more)
    if first is not None:
        yield from _wrap(first.summary, 2)


def named(diagnosis: Diagnosis) -> str:
    """What was asked about; a cluster, or files that hold none, with how many causes there are."""
    target = diagnosis.target
    if target.name and target.kind != TOLD:
        return f"{target.kind.lower()}/{target.name}"
    count = sum(1 for f in diagnosis.findings if not f.follows and f.severity is not Severity.INFO)
    name = target.name or "the cluster"
    return f"{name}, {counted(count, 'cause')}, worst first" if count > 1 else name


def leading(diagnosis: Diagnosis) -> Finding | None:
    """The finding that the verdict speaks of."""
    worst = [f for f in diagnosis.findings if f.severity.rank >= Severity.WARNING.rank]
    return worst[0] if worst else None


# --- a cause


def _cause(diagnosis: Diagnosis, root: Finding, below: list[Finding], number: int, paint: Paint) -> Iterator[str]:
    yield ""
    codes = f" ({', '.join(root.codes)})" if root.codes else ""
    count = f"{number}. " if number else ""
    what = "Note" if root.severity is Severity.INFO else "Cause"
    yield f"{paint('bold', f'{count}{what}')}  {paint('cyan', root.id)}{codes}, {root.severity.value}"
    if number > 1 or root is not leading(diagnosis):
        yield from _wrap(f"{root.title}. {root.summary}", 2)
    if len(root.affects) > 1 or (root.affects and not diagnosis.target.name):
        yield from _wrap(f"Affected: {few(root.affects)}", 2)
    yield from _evidence(root.evidence, paint)
    yield from _followers(below, paint)


def _evidence(evidence: tuple[Evidence, ...], paint: Paint) -> Iterator[str]:
    shown, more = bounded(evidence, MOST_EVIDENCE, "of the kind")
    for seen in shown:
        yield from _seen(seen, paint)
    if more:
        yield from (paint("dim", line) for line in _wrap(more, 2))


def _seen(seen: Evidence, paint: Paint) -> Iterator[str]:
    place = seen.file or seen.object or seen.command
    line = f":{seen.line}" if seen.line else ""
    field = f" {seen.field}" if seen.field else ""
    value = f" = {seen.value}" if seen.value else ""
    head = _wrap(f"{place}{line}{field}{value}", 4, first=2)
    yield head[0][:2] + paint("bold", head[0][2:])
    yield from head[1:]
    if seen.verbatim:
        yield from _wrap(f'"{seen.verbatim.strip()}"', 6)
    if seen.note:
        yield from (paint("dim", text) for text in _wrap(seen.note, 6))


def _followers(below: list[Finding], paint: Paint) -> Iterator[str]:
    if below:
        yield f"  {paint('bold', 'Follows from it')}"
    for follower in below:
        codes = f" ({', '.join(follower.codes)})" if follower.codes else ""
        yield from _wrap(f"{follower.id}{codes}: {follower.summary}", 6, first=4)
        said = next((e.verbatim for e in follower.evidence if e.verbatim), "")
        yield from _wrap(f'"{said}"', 8) if said else ()


# --- what is waived, what is out, what is open, what is next


def _waived(diagnosis: Diagnosis, paint: Paint) -> Iterator[str]:
    if diagnosis.waived:
        yield ""
        yield paint("bold", "Waived")
    for item in diagnosis.waived:
        until = f" until {item.until}" if item.until else ""
        yield from _wrap(f"{item.finding.id}, {item.finding.severity.value}: {item.finding.summary}", 6, first=2)
        yield from (paint("dim", line) for line in _wrap(f"{item.reason} (waived{until} by {item.source})", 6))
    if diagnosis.void_waivers:
        yield ""
        yield paint("bold", "Waivers without effect")
    for void in diagnosis.void_waivers:
        yield from _wrap(f"{void.source}: {void.text}: {void.problem}", 6, first=2)


def _ruled_out(diagnosis: Diagnosis, paint: Paint) -> Iterator[str]:
    if diagnosis.ruled_out:
        yield ""
        yield paint("bold", "Ruled out")
    for item in diagnosis.ruled_out:
        yield from _wrap(f"{item.id}: {item.reason}", 6, first=2)


def _not_checked(diagnosis: Diagnosis, paint: Paint) -> Iterator[str]:
    left = open_questions(diagnosis)
    for group in left.groups:
        yield from ("", paint("bold", group.heading))
        for question in group.questions:
            how = f"; to know it: {question.how}" if question.how else ""
            yield from _wrap(f"{question.reason}{how}", 6, first=2)
            yield from _dim(f"open: {question.rules}" if question.rules else "", paint, 8, 6)
        yield from _dim(group.more, paint, 2, 2)
        yield from _wrap(group.hint, 2) if group.hint else ()
    if left.needless:
        yield from ("", *_dim(left.needless, paint, 2, 0))


def _dim(text: str, paint: Paint, indent: int, first: int) -> Iterator[str]:
    if text:
        yield from (paint("dim", line) for line in _wrap(text, indent, first=first))


def _next(roots: list[Finding], paint: Paint) -> Iterator[str]:
    remedies = list(dict.fromkeys(r for root in roots for r in root.remedy))
    if remedies:
        yield ""
        yield paint("bold", "Next")
    for remedy in remedies:
        yield from _remedy(remedy, paint)


def _remedy(remedy: Remedy, paint: Paint) -> Iterator[str]:
    risk = f" ({_RISKS[remedy.risk.value]})" if remedy.risk.value in _RISKS else ""
    yield from _wrap(f"{remedy.text}{risk}", 4, first=2)
    if remedy.command:
        yield from (f"      {paint('cyan', line)}" for line in _command(remedy.command))


def _command(command: str) -> list[str]:
    """A command in lines that survive being pasted: broken at spaces outside quotes, with a backslash."""
    lines, line = [], ""
    for word in _words(command):
        if line and len(line) + len(word) + 1 > WIDTH - 6 - 2:
            lines.append(f"{line} \\")
            line = f"  {word}"
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


def _words(command: str) -> list[str]:
    """The words of a command line; a quoted part stays whole."""
    return re.findall(r"(?:[^\s'\"]|'[^']*'|\"[^\"]*\"|['\"])+", command)


def _wrap(text: str, indent: int, *, first: int | None = None) -> list[str]:
    """A text in lines of at most WIDTH columns, each indented; words longer than a line are broken, nothing is lost."""
    return textwrap.wrap(
        re.sub(r"\s*\n\s*", " ", text.strip()),
        WIDTH,
        initial_indent=" " * (indent if first is None else first),
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    ) or [""]
