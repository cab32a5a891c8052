"""Pages for a terminal, and as JSON."""

import re
import textwrap
from collections.abc import Sequence
from typing import Any

from lockgate.cli.here import heading, here, numbers
from lockgate.cli.pages import Page
from lockgate.cli.render.lines import WIDTH
from lockgate.cli.render.survey import parts_text
from lockgate.cli.surveying import Survey
from lockgate.model import names

_FENCED = re.compile(r"```\w*\n(?P<code>.*?)```", re.DOTALL)  # Markdown's blocks; a terminal shows them indented
_KINDS = {"topic": "topic", "finding": "finding of why", "lint": "finding of lint", "xid": "what the driver reports"}


def as_text(pages: Sequence[Page], most: int, seen: Survey | None = None) -> str:
    """Pages one below the other, each with where the cluster shows it; beyond the first few only their names."""
    shown = "\n".join(_page(page) + (_here(page, seen) if seen else "") for page in pages[:most])
    if len(pages) <= most:
        return shown
    rest = "".join(_line(p, 34) for p in pages[most:])
    return f"{shown}\nThe same may come from\n{rest}"


def listing(pages: Sequence[Page]) -> str:
    """Every page on a line, by kind."""
    parts = []
    for kind, name in (("topic", "Topics"), ("finding", "Findings of why"), ("lint", "Findings of lint")):
        lines = "".join(_line(p, 40) for p in pages if p.kind == kind)
        parts.append(f"{name}\n{lines}")
    return "\n".join(parts)


def _line(page: Page, column: int) -> str:
    """An id with its title; a title that is too long goes on below itself."""
    below = " " * (column + 3)
    wrapped = textwrap.wrap(page.title, WIDTH - len(below), break_on_hyphens=False)
    return f"  {page.id:<{column}} " + f"\n{below}".join(wrapped) + "\n"


def as_document(pages: Sequence[Page], seen: Survey | None = None) -> dict[str, Any]:
    """A list with a version, as every report; `here` says what of it a cluster shows, null where none was looked at."""
    head = {"apiVersion": names.API_VERSION, "kind": "ExplanationList", "items": pages}
    if seen is None:
        return head | {"here": None, "numbers": None}
    return head | {"here": here(pages, seen), "numbers": numbers(seen)}


def as_markdown(pages: Sequence[Page], seen: Survey | None = None) -> str:
    """The pages as they are written, since topics and rules are Markdown; what a cluster shows as on a terminal."""
    return "\n".join(f"# {page.title}\n\n`{page.id}`\n\n{page.text}\n{_fenced(page, seen)}" for page in pages)


def _fenced(page: Page, seen: Survey | None) -> str:
    return f"\n## {heading(seen)}\n\n```\n{_shown(page, seen)}```\n" if seen else ""


def _here(page: Page, seen: Survey) -> str:
    return f"\n{heading(seen)}\n\n{_shown(page, seen)}"


def _shown(page: Page, seen: Survey) -> str:
    """What of a page a cluster shows: its findings, and the numbers that belong to it."""
    (one,) = here([page], seen)
    lines = [f"  {f.severity.value}  {f.id}: {f.summary}" for f in one.findings]
    lines = lines or [f"  nothing of it is seen{' in what was read' if one.not_checked else ''}"]
    lines += [f"  not checked: {n.reason}{f'; to know it: {n.how}' if n.how else ''}" for n in one.not_checked]
    text = "\n".join(part for line in lines for part in textwrap.wrap(line, 100, subsequent_indent="    "))
    return text + (f"\n\n{parts_text(seen, one.numbers)}" if one.numbers else "\n")


def _filled(part: str) -> str:
    """A paragraph of prose at 100 columns; a fix and a reason begin lines of their own, tables and code stay."""
    if part.startswith(("|", "    ", "- ")) or part[:1].isdigit():
        return part
    sentences = re.split(r"\n(?=(?:Why it matters|How to tell|What to do|Fix):)", part)
    return "\n".join(textwrap.fill(" ".join(s.split()), 100, break_on_hyphens=False) for s in sentences)


def _page(page: Page) -> str:
    facts = [page.id, _KINDS[page.kind], page.severity, ", ".join(page.codes)]
    text = _FENCED.sub(lambda block: textwrap.indent(block["code"].rstrip("\n"), "    "), page.text)
    body = "\n\n".join(_filled(part) for part in text.split("\n\n"))
    title = textwrap.fill(page.title, 100, break_on_hyphens=False)
    return f"{title}\n  {'  '.join(fact for fact in facts if fact)}\n\n{body}\n"
