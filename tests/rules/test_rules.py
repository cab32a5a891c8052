"""Every rule: its page, its cases (failing, look-alike, healthy), and that it does no I/O."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import lockgate.rules
from lockgate.containerd.baselines import baseline
from lockgate.containerd.releases import FAMILIES
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.rule import Rule
from lockgate.diagnosis.target import parse_target
from lockgate.model.finding import Diagnosis
from lockgate.rules import all_rules
from tests.no_io import no_io
from tests.rules.world import snapshot

for _family in FAMILIES:  # a family's built-in configuration is a module: importing it is no I/O of a rule
    baseline(_family.baseline)
RULES = {rule.id: rule for rule in all_rules()}
PACKAGE = Path(lockgate.rules.__file__).parent
KINDS = {"failing", "look-alike", "healthy"}
KEYS = {"case", "kind", "ask", "facts", "says", "codes", "ruled_out", "skipped", "cause", "beside", "exit"}


def _file(rule_id: str) -> Path:
    return PACKAGE / f"{rule_id.replace('-', '_')}.yaml"


def _cases() -> list[Any]:
    found = []
    for rule_id in RULES:
        if _file(rule_id).exists():
            document = yaml.safe_load(_file(rule_id).read_text())
            found += [pytest.param(RULES[rule_id], c, id=f"{rule_id}: {c['case']}") for c in document["cases"]]
    return found


@pytest.mark.parametrize(("rule", "case"), _cases())
def test_a_rule_judges_its_case(rule: Rule, case: dict[str, Any]) -> None:
    facts = snapshot(case["facts"])
    with no_io():
        diagnosis = diagnose(facts, parse_target(case.get("ask", "pod/x"), "default"), tuple(RULES.values()))
    _check(rule, case, diagnosis)
    assert case["kind"] != "healthy" or not diagnosis.findings or "cause" in case


def _check(rule: Rule, case: dict[str, Any], diagnosis: Diagnosis) -> None:
    own = [f for f in diagnosis.findings if f.id == rule.id]
    assert bool(own) == (case["kind"] == "failing"), [f.id for f in diagnosis.findings]
    text = " ".join(f"{f.title}. {f.summary} {f.evidence} {f.remedy}" for f in own)
    assert [words for words in case.get("says", []) if words not in text] == [], text
    assert "codes" not in case or list(own[0].codes) == case["codes"]
    assert "cause" not in case or (diagnosis.findings and diagnosis.findings[0].id == case["cause"])
    assert "exit" not in case or diagnosis.exit_code == case["exit"]
    if "ruled_out" in case:
        assert case["ruled_out"] in {r.id: r.reason for r in diagnosis.ruled_out}.get(rule.id, "")
    if "skipped" in case:
        assert case["skipped"] in {n.id: n.reason for n in diagnosis.not_checked}.get(rule.id, "")


@pytest.mark.parametrize("rule_id", sorted(RULES))
def test_a_rule_has_a_page_and_a_failing_a_look_alike_and_a_healthy_case(rule_id: str) -> None:
    rule = RULES[rule_id]
    assert rule.title
    assert "\n" not in rule.title
    assert "Why it matters:" in rule.page
    assert "\nFix:" in rule.page
    assert rule.fallback or rule.codes or rule.gpu is not True
    document = yaml.safe_load(_file(rule_id).read_text())
    assert {c["kind"] for c in document["cases"]} == KINDS
    assert [set(c) - KEYS for c in document["cases"] if set(c) - KEYS] == []


def test_no_case_file_lacks_its_rule() -> None:
    named = {str(p.relative_to(PACKAGE)).removesuffix(".yaml").replace("_", "-") for p in PACKAGE.rglob("*.yaml")}
    assert named <= set(RULES)


def test_what_a_rule_mutes_is_a_rule() -> None:
    assert {m.partition(":")[0] for rule in RULES.values() for m in rule.mutes} <= set(RULES)


def test_the_audit_hook_notices_a_rule_that_reads_a_file() -> None:
    with pytest.raises(AssertionError, match="did I/O"), no_io():
        Path(__file__).read_text()
