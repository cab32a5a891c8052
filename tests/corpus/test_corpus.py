"""The committed accuracy holds: the written cases are asked whole, of the generated ones a fixed sample."""

from functools import cache

import pytest

from lockgate.diagnosis.rule import Rule
from lockgate.model.finding import Diagnosis, Evidence, Finding, Severity, TargetRef, Verdict
from lockgate.rules import all_rules
from tests.corpus.figures import SHARE, Figures, below, load_figures, page_is_in_step
from tests.corpus.groups import GROUPS
from tests.corpus.judge import Expect, judge
from tests.corpus.written import load

_LEAST_HEALTHY = 20
_REPORTS = {f"D{number:02}" for number in range(1, 34)}


@cache
def _rules() -> tuple[Rule, ...]:
    return tuple(all_rules())


@pytest.mark.parametrize("group", GROUPS)
def test_no_group_answers_worse_than_committed(group: str) -> None:
    figures, missed = Figures(), []
    for question in GROUPS[group](_rules(), SHARE):
        score = question.score(_rules())
        figures = figures.with_score(score)
        missed += [] if score.right else [f"{question.name} {score}"]
    assert figures.questions
    assert below({group: figures}, load_figures("sample")) == [], "\n".join(missed)


def test_every_report_is_there_and_enough_healthy_estates() -> None:
    assert {case.name for case in load("reports")} == _REPORTS
    healthy = list(load("healthy"))
    assert len(healthy) >= _LEAST_HEALTHY
    assert all(not case.expect.causes for case in healthy)


def test_the_page_shows_the_committed_figures() -> None:
    assert page_is_in_step()


def test_a_drop_is_noticed_and_a_rise_is_not() -> None:
    was = {"a": Figures(questions=1000, first=990, among_three=1000, wrong=1)}
    assert below({"a": Figures(questions=100, first=99, among_three=100, wrong=1)}, was) == []
    worse = below({"a": Figures(questions=100, first=98, among_three=100, wrong=2)}, was)
    assert worse == ["a: first 98.0 %, committed 99.0 %", "a: 2 wrong blockers, committed 1"]


def _finding(id: str, severity: Severity, follows: str = "", code: str = "") -> Finding:
    return Finding(
        id=id,
        codes=(code,) if code else (),
        title=id,
        severity=severity,
        about="pod/default/x",
        summary=id,
        evidence=(Evidence(object="pod/default/x"),),
        remedy=(),
        gpu=True,
        follows=follows,
    )


@pytest.mark.parametrize(
    ("findings", "expect", "scored"),
    [
        ([("a/a", "blocker", "")], {"causes": ("a/a",)}, (True, True, ())),
        ([("b/b", "error", ""), ("a/a", "error", "")], {"causes": ("a/a",)}, (False, True, ("b/b",))),
        ([("a/a", "error", ""), ("b/b", "blocker", "a/a")], {"causes": ("a/a",)}, (True, True, ())),
        ([("a/a", "error", ""), ("b/b", "warning", "")], {"causes": ("a/a",)}, (True, True, ())),
        ([("b/b", "error", ""), ("a/a", "error", "")], {"causes": ("a/a", "b/b")}, (False, True, ())),
        ([("b/b", "error", ""), ("a/a", "error", "")], {"causes": ("a/a", "b/b"), "any_order": True}, (True, True, ())),
        ([("b/b", "error", "")], {"causes": ("a/a|b/b",)}, (True, True, ())),
        ([("b/b", "error", "")], {"causes": ("a/a",), "also": ("b/b",)}, (False, False, ())),
        ([("a/a", "info", "")], {}, (True, True, ())),
        ([("a/a", "warning", "")], {}, (False, False, ("a/a",))),
        ([], {"causes": ("a/a",)}, (False, False, ())),
    ],
)
def test_how_an_answer_is_scored(
    findings: list[tuple[str, str, str]], expect: dict[str, object], scored: tuple[bool, bool, tuple[str, ...]]
) -> None:
    diagnosis = Diagnosis(
        target=TargetRef("Pod", "x", "default"),
        verdict=Verdict.BROKEN if findings else Verdict.HEALTHY,
        headline="",
        findings=tuple(_finding(id, Severity(severity), follows) for id, severity, follows in findings),
    )
    score = judge(diagnosis, Expect(**expect))
    assert (score.first, score.among_three, score.wrong) == scored


def test_not_to_know_is_right_where_facts_were_taken_away() -> None:
    unknown = Diagnosis(target=TargetRef("Pod", "x", "default"), verdict=Verdict.UNKNOWN, headline="", findings=())
    assert judge(unknown, Expect(causes=("a/a",), or_unknown=True)).right
    assert not judge(unknown, Expect(causes=("a/a",))).right
