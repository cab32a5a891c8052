"""Every lint rule: its page, its cases (failing, look-alike, healthy), that its fix heals, and that it does no I/O."""

import json
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest
import yaml

import lockgate.lint
from lockgate.cli.render.sarif import render_sarif
from lockgate.containerd.baselines import baseline
from lockgate.containerd.releases import FAMILIES
from lockgate.lint import all_rules
from lockgate.lint.engine import fix_all, lint
from lockgate.lint.rule import LintRule
from tests.no_io import no_io
from tools.lint_cases import subject

for _family in FAMILIES:  # a family's built-in configuration is a module: importing it is no I/O of a rule
    baseline(_family.baseline)
RULES = {rule.id: rule for rule in all_rules()}
PACKAGE = Path(lockgate.lint.__file__).parent
SARIF = fastjsonschema.compile(json.loads((Path(__file__).parent / "sarif/sarif-schema-2.1.0.json").read_text()))
KINDS = {"failing", "look-alike", "healthy"}
KEYS = {
    "case",
    "kind",
    "releases",
    "files",
    "root",
    "node_has",
    "node",
    "lists_cdi",
    "serves_cri",
    "manifest",
    "cluster",
    "says",
    "severity",
    "fixed",
    "others",
}


def _file(rule_id: str) -> Path:
    return PACKAGE / f"{rule_id.replace('-', '_')}.yaml"


def _cases() -> list[Any]:
    return [
        pytest.param(rule, case, release, id=f"{rule.id} {release or ''}: {case['case']}")
        for rule in RULES.values()
        if _file(rule.id).exists()
        for case in yaml.safe_load(_file(rule.id).read_text())["cases"]
        for release in case.get("releases", [None])
    ]


@pytest.mark.parametrize(("rule", "case", "release"), _cases())
def test_a_rule_judges_its_case(rule: LintRule, case: dict[str, Any], release: str | None) -> None:
    with no_io():
        report = lint(subject(case, str(release) if release else None), tuple(RULES.values()))
    own = [f for f in report.findings if f.id == rule.id]
    seen = [(f.id, f.summary) for f in report.findings]
    assert bool(own) == (case["kind"] == "failing"), seen
    text = " ".join(f"{f.title}. {f.summary} {f.lines} {f.help}" for f in own)
    assert [words for words in case.get("says", []) if words not in text] == [], text
    assert "severity" not in case or {f.severity for f in own} == {case["severity"]}
    strangers = {f.id for f in report.findings} - {rule.id, *case.get("others", [])}
    assert strangers == set() or case["kind"] == "look-alike", seen
    assert all(line.line == 0 or line.text for f in own for line in f.lines), "a mark on an empty line"


@pytest.mark.parametrize(("rule", "case", "release"), _cases())
def test_a_fix_heals_and_is_offered_where_a_case_says_so(
    rule: LintRule, case: dict[str, Any], release: str | None
) -> None:
    before = subject(case, str(release) if release else None)
    with no_io():
        report = lint(before, tuple(RULES.values()))
        fixed = fix_all(before, tuple(RULES.values()), frozenset(before.files))
        after = before.edited(fixed)
        left = lint(after, tuple(RULES.values()))
    assert bool(case.get("fixed")) == any(f.fix for f in report.findings if f.id == rule.id)
    assert not (case.get("fixed") and [f.id for f in left.findings if f.id == rule.id])
    assert fix_all(after, tuple(RULES.values()), frozenset(before.files)) == {}, "a second --fix writes again"


@pytest.mark.parametrize("rule_id", sorted(RULES))
def test_what_a_rule_says_is_sarif_by_the_official_schema(rule_id: str) -> None:
    for case in yaml.safe_load(_file(rule_id).read_text())["cases"]:
        release = case.get("releases", [None])[0]
        SARIF(json.loads(render_sarif(lint(subject(case, str(release) if release else None), tuple(RULES.values())))))


@pytest.mark.parametrize("rule_id", sorted(RULES))
def test_a_rule_has_a_page_and_a_failing_a_look_alike_and_a_healthy_case(rule_id: str) -> None:
    rule = RULES[rule_id]
    assert rule.title
    assert "\n" not in rule.title
    assert "Why it matters:" in rule.page
    assert "\nFix:" in rule.page
    document = yaml.safe_load(_file(rule_id).read_text())
    assert {c["kind"] for c in document["cases"]} == KINDS
    assert [set(c) - KEYS for c in document["cases"] if set(c) - KEYS] == []


def test_no_case_file_lacks_its_rule() -> None:
    named = {str(p.relative_to(PACKAGE)).removesuffix(".yaml").replace("_", "-") for p in PACKAGE.rglob("*.yaml")}
    assert named == set(RULES)


def test_what_a_rule_mutes_is_a_rule() -> None:
    assert {m for rule in RULES.values() for m in rule.mutes} <= set(RULES)


def test_the_audit_hook_notices_a_rule_that_reads_a_file() -> None:
    with pytest.raises(AssertionError, match="did I/O"), no_io():
        Path(__file__).read_text()
