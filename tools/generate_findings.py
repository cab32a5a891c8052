"""Generates `docs/reference/findings/`: a page for each finding from its rule's docstring and cases, and an index.

A fault that both `why` and `lint` can name has one id and one page.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import yaml

from lockgate import rules
from lockgate.diagnosis.rule import Rule
from tools.lint_pages import lint_pages, lint_rows

FOLDER = "docs/reference/findings"
FOLDERS = (FOLDER,)
RULES = Path(rules.__file__).parent

_INDEX = """\
# Findings

What `kubectl gpu why` can name. The id is the place of the rule in `src/lockgate/rules/`; the codes are those of the
failure catalogue that a finding covers. A finding that follows from another one is shown under it.

| id | title | severity | codes | a GPU fault |
| --- | --- | --- | --- | --- |
"""
_LINT_INDEX = """\
## What `kubectl gpu lint` can name

Judged from files alone, before anything fails. The id is the place of the rule in `src/lockgate/lint/`.

| id | title | severity | codes |
| --- | --- | --- | --- |
"""
_GPU = {True: "yes", False: "no", None: "depends"}


def generated() -> dict[str, str]:
    """Path -> content of every page."""
    every = rules.all_rules()
    pages = {rule.id: _page(rule) for rule in every}
    titles = {name: title for name, title, *_ in lint_rows()}
    for name, page in lint_pages().items():
        if name in pages:
            pages[name] += f"\n## {titles[name]} (`kubectl gpu lint`)\n\n{page}"
        else:
            pages[name] = f"# {titles[name]}\n\n{page}"
    return {f"{FOLDER}/{name}.md": page for name, page in pages.items()} | {f"{FOLDER}/README.md": _index(every)}


def _index(every: Sequence[Rule]) -> str:
    why = "".join(f"| {' | '.join(_row(rule))} |\n" for rule in every)
    lint = "".join(f"| [{i}]({i}.md) | {title} | {severity} | {codes} |\n" for i, title, severity, codes in lint_rows())
    return f"{_INDEX}{why}\n{_LINT_INDEX}{lint}"


def _row(rule: Rule) -> tuple[str, ...]:
    codes = ", ".join(rule.codes)
    return f"[{rule.id}]({rule.id}.md)", rule.title, rule.severity.value, codes, _GPU[rule.gpu]


def _page(rule: Rule) -> str:
    _, _, body = rule.page.partition("\n")
    facts = [
        f"id: `{rule.id}`",
        f"severity: {rule.severity.value}",
        f"codes: {', '.join(rule.codes) or 'none'}",
        f"a GPU fault: {_GPU[rule.gpu]}",
        f"reads: {', '.join(need.name for need in rule.needs) or 'nothing'}",
    ]
    if rule.mutes:
        facts.append(f"followers shown under it: {', '.join(f'`{name}`' for name in rule.mutes)}")
    lines = [f"# {rule.title}", "", " · ".join(facts), "", *_paragraphs(body), *_cases(rule)]
    return "\n".join(lines).rstrip() + "\n"


def _paragraphs(body: str) -> list[str]:
    text = re.sub(r"^(Why it matters|How to tell|Fix):\s*(\S)", _heading, body.strip(), flags=re.MULTILINE)
    return [line for part in text.split("\n\n") if part.strip() for line in (part.strip(), "")]


def _heading(match: re.Match[str]) -> str:
    return f"\n**{match[1]}.** {match[2].upper()}"


def _cases(rule: Rule) -> list[str]:
    path = RULES / f"{rule.id.replace('-', '_')}.yaml"
    if not path.exists():
        return []
    return ["## Tested on", "", *(f"- {name}" for name in _names(yaml.safe_load(path.read_text())))]


def _names(document: object) -> list[str]:
    """The names of a rule's cases, whatever their order in the file."""
    cases = document.get("cases", document) if isinstance(document, dict) else document
    if isinstance(cases, dict):
        return [str(name) for name in cases]
    return [str(case.get("name", case.get("case", ""))) for case in cases] if isinstance(cases, list) else []
