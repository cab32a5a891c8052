"""Pages for a terminal, and as JSON."""

import re
import textwrap
from collections.abc import Sequence

import msgspec

from lockgate.cli.pages import Page
from lockgate.model import names

_KINDS = {"topic": "topic", "finding": "finding of why", "lint": "finding of lint", "xid": "what the driver reports"}


def as_text(pages: Sequence[Page], most: int) -> str:
    """Pages one below the other; beyond the first few only their names."""
    shown = "\n".join(_page(page) for page in pages[:most])
    if len(pages) <= most:
        return shown
    rest = "".join(f"  {p.id:<34} {p.title}\n" for p in pages[most:])
    return f"{shown}\nThe same may come from\n{rest}"


def listing(pages: Sequence[Page]) -> str:
    """Every page on a line, by kind."""
    parts = []
    for kind, name in (("topic", "Topics"), ("finding", "Findings of why"), ("lint", "Findings of lint")):
        lines = "".join(f"  {p.id:<40} {p.title}\n" for p in pages if p.kind == kind)
        parts.append(f"{name}\n{lines}")
    return "\n".join(parts)


def as_json(pages: Sequence[Page]) -> str:
    """A list with a version, as every report."""
    document = {"apiVersion": names.API_VERSION, "kind": "ExplanationList", "items": pages}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _filled(part: str) -> str:
    """A paragraph of prose at 100 columns; a fix and a reason begin lines of their own, tables and code stay."""
    if part.startswith(("|", "```", "    ", "- ")) or part[:1].isdigit():
        return part
    sentences = re.split(r"\n(?=(?:Why it matters|How to tell|Fix):)", part)
    return "\n".join(textwrap.fill(" ".join(s.split()), 100, break_on_hyphens=False) for s in sentences)


def _page(page: Page) -> str:
    facts = [page.id, _KINDS[page.kind], page.severity, ", ".join(page.codes)]
    said = "\n".join(line for line in page.text.splitlines() if not line.startswith("Asked as:")).strip()
    body = "\n\n".join(_filled(part) for part in said.split("\n\n"))
    return f"{page.title}\n  {'  '.join(fact for fact in facts if fact)}\n\n{body}\n"
