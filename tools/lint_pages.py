"""Pages of lint findings: what a rule is, from its docstring, and how it looks, from its first failing case."""

import re
from pathlib import Path
from typing import Any

import yaml

from lockgate import lint
from lockgate.cli.render.lint_text import render_report
from lockgate.cli.render.text import Paint
from lockgate.lint.engine import lint as judge
from lockgate.lint.report import LintReport
from lockgate.lint.rule import LintRule
from tools.lint_cases import subject

RULES = Path(lint.__file__).parent
_NOTE = """\
## Suppress it

`--ignore {id}`, or a comment with a reason on the line, above it, or at the top of the file:

    # lockgate: ignore {id} -- <why it is meant>
"""


def lint_pages() -> dict[str, str]:
    """Id -> page of every lint rule, without its title."""
    return {rule.id: _page(rule) for rule in lint.all_rules()}


def lint_rows() -> list[tuple[str, str, str, str]]:
    """Id, title, severity and codes of every lint rule."""
    return [(rule.id, rule.title, rule.severity.value, ", ".join(rule.codes)) for rule in lint.all_rules()]


def _page(rule: LintRule) -> str:
    facts = [
        f"id: `{rule.id}`",
        f"severity: {rule.severity.value}",
        f"codes: {', '.join(rule.codes) or 'none'}",
        "found by `kubectl gpu lint`",
    ]
    _, _, body = rule.page.partition("\n")
    text = re.sub(r"^(Why it matters|Fix):\s*(\w)", _heading, body.strip(), flags=re.MULTILINE)
    cases = yaml.safe_load((RULES / f"{rule.id.replace('-', '_')}.yaml").read_text())["cases"]
    parts = [" · ".join(facts), text, *_example(rule, cases), _tested(cases), _NOTE.format(id=rule.id)]
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(part.strip("\n") for part in parts if part)) + "\n"


def _heading(match: re.Match[str]) -> str:
    return f"\n**{match[1]}.** {match[2].upper()}"


def _example(rule: LintRule, cases: list[dict[str, Any]]) -> list[str]:
    """The first failing case as a terminal shows it."""
    case = next(case for case in cases if case["kind"] == "failing")
    release = str(case["releases"][0]) if "releases" in case else None
    report = judge(subject(case, release), (rule,))
    shown = "\n".join(line for line in render_report(LintReport(findings=report.findings), Paint(False)))
    shown = shown.rpartition("\n\n")[0]
    return ["## For example", f"{case['case']}{f' (containerd {release})' if release else ''}:", f"```\n{shown}\n```"]


def _tested(cases: list[dict[str, Any]]) -> str:
    return "\n".join(["## Tested on", "", *(f"- {case['case']}{_releases(case)}" for case in cases)])


def _releases(case: dict[str, Any]) -> str:
    silent = "" if case["kind"] == "failing" else ", silent"
    if "manifest" in case:
        return f" ({silent.removeprefix(', ')})" if silent else ""
    return f" ({', '.join(map(str, case['releases']))}{silent})" if "releases" in case else f" (any release{silent})"
