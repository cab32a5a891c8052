"""A lint report as SARIF 2.1.0, which code hosts and editors read.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0. Columns count UTF-16 units unless a run says otherwise;
ours counts Unicode code points and says so.
"""

import hashlib
import json
from typing import Any, Final
from urllib.parse import quote

from lockgate.lint import all_rules
from lockgate.lint.report import Line, LintFinding, LintReport
from lockgate.lint.rule import LintRule
from lockgate.model.finding import Severity

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: Final = {
    Severity.BLOCKER: "error",
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "note",
}


def render_sarif(report: LintReport) -> str:
    """One run with a result for each finding, the suppressed ones marked so."""
    rules = {rule.id: rule for rule in all_rules()}
    results = [_result(finding) for finding in report.findings]
    results += [_result(s.finding) | {"suppressions": [_suppression(s.reason)]} for s in report.suppressed]
    used = sorted({result["ruleId"] for result in results})
    driver: dict[str, Any] = {
        "name": report.tool.name,
        "version": report.tool.version or "0",
        "rules": [_rule(name, rules.get(name)) for name in used],
    }
    for result in results:
        result["ruleIndex"] = used.index(result["ruleId"])
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": _open(report)}]
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(name: str, rule: LintRule | None) -> dict[str, Any]:
    if rule is None:
        return {"id": name, "shortDescription": {"text": "A finding is ignored without a reason"}}
    return {
        "id": name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.page.partition("\n")[2].strip()},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": [rule.id.partition("/")[0]], "codes": list(rule.codes)},
    }


def _result(finding: LintFinding) -> dict[str, Any]:
    where = f"{finding.node}: " if finding.node else ""
    text = f"{where}{finding.summary}" + (f" Help: {finding.help}." if finding.help else "")
    result: dict[str, Any] = {
        "ruleId": finding.id,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [_location(line) for line in finding.lines[:1]],
        "partialFingerprints": {"lockgate/v1": _fingerprint(finding)},
    }
    if finding.lines[1:]:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": line.note or "see also"}, **_location(line)}
            for number, line in enumerate(finding.lines[1:], 1)
        ]
    return result


def _location(line: Line) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(line.file)}}
    if line.line:
        physical["region"] = {
            "startLine": line.line,
            "startColumn": line.column,
            "endColumn": max(line.end_column, line.column),
            "snippet": {"text": line.text},
        }
    return {"physicalLocation": physical}


def _uri(path: str) -> str:
    """A path as a URI: absolute ones with a scheme, relative ones as they are."""
    return f"file://{quote(path)}" if path.startswith("/") else quote(path.removeprefix("./"))


def _fingerprint(finding: LintFinding) -> str:
    """What stays the same while lines move."""
    return hashlib.sha256(f"{finding.id}\0{finding.node}\0{finding.key}".encode()).hexdigest()[:32]


def _open(report: LintReport) -> list[dict[str, Any]]:
    return [{"level": "warning", "message": {"text": f"{n.reason}; {n.how}"}} for n in report.not_checked]


def _suppression(reason: str) -> dict[str, str]:
    return {"kind": "external" if reason.startswith("--ignore") else "inSource", "justification": reason}
