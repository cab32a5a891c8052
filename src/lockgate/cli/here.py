"""Where a cluster shows what a page explains: the findings that are there now, and the numbers that belong to it."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

import msgspec

from lockgate.cli.pages import Page
from lockgate.cli.surveying import Survey
from lockgate.model.finding import Finding


class Here(msgspec.Struct, frozen=True, rename="camel"):
    """Of one page: what of it is in this cluster now; `numbers` are the parts of the survey that belong to it."""

    id: str
    findings: tuple[Finding, ...]
    numbers: tuple[str, ...]


def here(pages: Iterable[Page], seen: Survey) -> tuple[Here, ...]:
    """For each page the findings of a cluster that it explains."""
    return tuple(_here(page, seen) for page in pages)


def _here(page: Page, seen: Survey) -> Here:
    patterns = page.shown_by or ((page.id,) if page.kind in ("finding", "lint") else ())
    waived = (w.finding for w in seen.diagnosis.waived)
    found = [f for f in (*seen.diagnosis.findings, *waived) if any(fnmatchcase(f.id, p) for p in patterns)]
    return Here(page.id, tuple(found), page.numbers)
