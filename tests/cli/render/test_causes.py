"""What follows from a cause is told under that one alone, also where several causes have followers of one id."""

from lockgate.cli.render.causes import causes
from lockgate.cli.render.text import Paint, render_text
from lockgate.model.finding import Diagnosis, Finding, Severity, TargetRef, Verdict


def _finding(rule: str, summary: str, follows: str = "") -> Finding:
    return Finding(id=rule, codes=(), title=rule, severity=Severity.ERROR, about="", summary=summary, follows=follows)


FINDINGS = (
    _finding("driver/compiler", "a: compiler"),
    _finding("operands/init-waits", "a: waits", "driver/compiler"),
    _finding("operands/plugin-gone", "a: gone", "operands/init-waits"),
    _finding("driver/nouveau", "b: nouveau"),
    _finding("operands/init-waits", "b: waits", "driver/nouveau"),
)


def test_each_cause_has_what_stands_behind_it() -> None:
    assert [(root.summary, [f.summary for f in below]) for root, below in causes(FINDINGS)] == [
        ("a: compiler", ["a: waits", "a: gone"]),
        ("b: nouveau", ["b: waits"]),
    ]


def test_a_terminal_shows_each_effect_once() -> None:
    answer = Diagnosis(target=TargetRef("Cluster", ""), verdict=Verdict.BROKEN, headline="", findings=FINDINGS)
    text = "\n".join(render_text(answer, Paint(on=False)))
    assert [text.count(words) for words in ("a: waits", "a: gone", "b: waits")] == [1, 1, 1]
