"""A fault of hundreds of nodes is told in a screenful or two; nothing is dropped in silence, and JSON has it all."""

from io import StringIO

import pytest

from lockgate.cli.render.html import render_why
from lockgate.cli.render.lines import MOST_EVIDENCE
from lockgate.cli.render.markdown import render_markdown
from lockgate.cli.render.text import print_text
from lockgate.model.finding import Diagnosis
from tests.diagnosis.test_stack_fault import cluster

NODES = [f"gpu-{number:03}" for number in range(120)]
LEFT = 47  # pieces of evidence that text does not show, the count of the nodes that are not shown among them


@pytest.fixture(scope="module")
def sick() -> Diagnosis:
    """The driver of every node is ready and has not said so: every other operand waits for it."""
    return cluster(dict.fromkeys(NODES, ""), pods={}, logs={})


def test_text_says_the_first_and_counts_the_rest(sick: Diagnosis) -> None:
    out = StringIO()
    print_text(sick, no_color=True, out=out)
    text = out.getvalue()
    assert len(text.splitlines()) < 150
    assert len(sick.findings[0].evidence) == MOST_EVIDENCE + LEFT
    assert f"  and {LEFT} more of the kind (-o json shows all)\n" in text
    assert text.count("kubectl gpu collect -o bundle.tgz --probe all") == 1
    assert "--probe gpu-" not in text


def test_markdown_is_no_longer(sick: Diagnosis) -> None:
    lines = render_markdown(sick).splitlines()
    assert len(lines) < 150
    assert f"and {LEFT} more of the kind (-o json shows all)" in lines
    assert not any("--probe gpu-" in line for line in lines)
    assert max(map(len, lines)) < 1000


def test_html_folds_the_rest_and_loses_nothing(sick: Diagnosis) -> None:
    page = render_why(sick)
    assert f"<summary>{LEFT} more</summary>" in page
    assert all(seen.object in page for seen in sick.findings[0].evidence)
