"""What was not read, in every view: at length where it could change the answer, in a line where that is settled."""

from collections.abc import Callable

import msgspec
import pytest

from lockgate.cli.render.html import render_why
from lockgate.cli.render.markdown import render_markdown
from lockgate.cli.render.text import Paint, render_text
from lockgate.model.finding import Diagnosis, NotChecked, Source, TargetRef, Verdict

LOGS = NotChecked("logs", "no logs/", "kubectl logs -n default x --all-containers --tail=200", False, ("a/b", "a/c"))
NODE = NotChecked("node-files", "nothing was read", "kubectl gpu collect -o bundle.tgz --probe gpu-a", False, ("a/b",))
REFUSED = NotChecked("events", "may not be read", "RBAC: list on events", False, ("a/b",))
HAND_BACK = "logs/NAMESPACE/POD/CONTAINER.log"


def _text(verdict: Verdict, *questions: NotChecked, kind: str = "files") -> str:
    target, source = TargetRef("Pod", "x", "default"), Source(kind)
    diagnosis = Diagnosis(target=target, verdict=verdict, headline="pod/x", not_checked=questions, source=source)
    return " ".join("\n".join(render_text(diagnosis, Paint(on=False))).split())


@pytest.mark.parametrize("verdict", [Verdict.HEALTHY, Verdict.BROKEN, Verdict.NOT_GPU])
def test_where_all_is_well_or_a_cause_is_named_what_was_not_read_is_one_line(verdict: Verdict) -> None:
    said = "Not looked at, and not needed for this verdict: logs, what the node says itself; "
    assert _text(verdict, LOGS, NODE).endswith(f"{said}{NODE.how} has them")
    assert _text(verdict, LOGS).endswith(f"verdict: logs; {LOGS.how} has it")


def test_a_permission_that_lacks_is_told_also_where_all_is_well() -> None:
    text = _text(Verdict.HEALTHY, LOGS, REFUSED)
    assert "Not checked may not be read; to know it: RBAC: list on events" in text
    assert "verdict: logs;" in text


def test_no_line_is_empty_where_there_is_nothing_to_add() -> None:
    lines = list(render_text(_asked(Verdict.UNKNOWN, msgspec.structs.replace(LOGS, decides=True)), Paint(on=False)))
    assert "\n\n\n" not in "\n".join(lines)
    assert list(render_text(_asked(Verdict.WARNING, LOGS), Paint(on=False)))[-1]


def test_elsewhere_each_stands_with_its_command() -> None:
    text = _text(Verdict.WARNING, LOGS, NODE)
    assert "not needed" not in text
    assert f"no logs/; to know it: {LOGS.how}" in text


def test_how_a_log_is_handed_back_is_told_once_where_it_decides_and_files_were_read() -> None:
    decides = msgspec.structs.replace(LOGS, decides=True)
    other = msgspec.structs.replace(decides, reason="no log of it", how="kubectl logs -n default y")
    assert _text(Verdict.UNKNOWN, decides, other).count(HAND_BACK) == 1
    assert HAND_BACK not in _text(Verdict.UNKNOWN, decides, kind="live")
    assert HAND_BACK not in _text(Verdict.HEALTHY, LOGS)


def _asked(verdict: Verdict, *questions: NotChecked) -> Diagnosis:
    target, source = TargetRef("Pod", "x", "default"), Source("files")
    return Diagnosis(target=target, verdict=verdict, headline="pod/x", not_checked=questions, source=source)


@pytest.mark.parametrize("render", [render_markdown, render_why])
def test_markdown_and_html_group_what_stays_open_as_the_terminal_does(render: Callable[[Diagnosis], str]) -> None:
    lacking = tuple(NotChecked(f"a/{name}", "nodes: may not be read", "ask", True) for name in "bcdef")
    page = render(_asked(Verdict.UNKNOWN, *lacking, REFUSED))
    assert page.count("nodes: may not be read") == 1
    assert "open: a/b, a/c, a/d and 2 more" in page
    assert page.index("Not checked, and could change the answer") < page.index("RBAC: list on events")
    assert "Not looked at, and not needed for this verdict: logs;" in render(_asked(Verdict.HEALTHY, LOGS))
