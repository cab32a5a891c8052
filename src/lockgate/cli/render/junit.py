"""A lint report as JUnit XML: a test case a rule, failed by errors and blockers; warnings are its output."""

import re
from xml.sax.saxutils import escape, quoteattr

from lockgate.lint import all_rules
from lockgate.lint.report import LintFinding, LintReport
from lockgate.model.finding import Severity

_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # by XML 1.0


def render_junit(report: LintReport) -> str:
    """One suite with a case for every rule, and one for whatever could not be checked."""
    by_rule: dict[str, list[LintFinding]] = {rule.id: [] for rule in all_rules()}
    for finding in report.findings:
        by_rule.setdefault(finding.id, []).append(finding)
    cases = [_case(name, found) for name, found in by_rule.items()]
    cases += [_skipped(n.id, f"{n.reason}; {n.how}") for n in report.not_checked]
    failures = sum(any(_fails(f) for f in found) for found in by_rule.values())
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="{len(report.not_checked)}"'
    suite = f'<testsuite name="lockgate lint" {counts}>\n{"".join(cases)}</testsuite>'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {counts}>\n{suite}\n</testsuites>\n'


def _fails(finding: LintFinding) -> bool:
    return finding.severity.rank >= Severity.ERROR.rank


def _case(name: str, found: list[LintFinding]) -> str:
    area, _, fault = name.partition("/")
    head = f"  <testcase classname={quoteattr(area)} name={quoteattr(fault)}"
    body = "".join(_failure(f) for f in found if _fails(f))
    remarks = "\n".join(_text(f) for f in found if not _fails(f))
    body += f"    <system-out>{_clean(remarks)}</system-out>\n" if remarks else ""
    return f"{head}>\n{body}  </testcase>\n" if body else f"{head}/>\n"


def _failure(finding: LintFinding) -> str:
    message = quoteattr(_FORBIDDEN.sub("?", finding.summary))
    return f'    <failure type="{finding.severity.value}" message={message}>{_clean(_text(finding))}</failure>\n'


def _skipped(name: str, reason: str) -> str:
    message = quoteattr(_FORBIDDEN.sub("?", reason))
    skipped = f"    <skipped message={message}/>\n"
    return f'  <testcase classname="not checked" name={quoteattr(name)}>\n{skipped}  </testcase>\n'


def _text(finding: LintFinding) -> str:
    where = f"{finding.node}: " if finding.node else ""
    lines = [f"  {line.file}:{line.line}: {line.text.strip()}  <- {line.note}" for line in finding.lines]
    return "\n".join([f"{where}{finding.summary}", *lines])


def _clean(text: str) -> str:
    return escape(_FORBIDDEN.sub("?", text))
