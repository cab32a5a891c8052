"""A fault of hundreds of nodes is told in a screenful or two; nothing is dropped in silence, and JSON has it all."""

import re
from io import StringIO

import pytest
from msgspec.structs import replace

from lockgate.cli.render.html import render_why
from lockgate.cli.render.lines import MOST_EVIDENCE
from lockgate.cli.render.markdown import render_markdown
from lockgate.cli.render.text import print_text
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.model.finding import Diagnosis
from lockgate.rules import all_rules
from tests.diagnosis.test_stack_fault import CRASHED, NO_GPU
from tests.rules.world import snapshot

NODES = [f"gpu-{number:03}" for number in range(120)]


@pytest.fixture(scope="module")
def sick() -> Diagnosis:
    """The driver crashes on every node and says nothing that is known."""
    facts = {
        "operator": {"nodes": NODES, "stuck": dict.fromkeys(NODES, "driver")},
        "nodes": dict.fromkeys(NODES, NO_GPU),
        "pods": {f"gpu-operator/nvidia-driver-daemonset-{node}": {"status": CRASHED} for node in NODES},
        "logs": {f"gpu-operator/nvidia-driver-daemonset-{n}/nvidia-driver-ctr": "words" for n in NODES},
    }
    found = diagnose(snapshot(facts), parse_target(""), all_rules())
    worst, *others = found.findings
    seen = tuple(replace(worst.evidence[0], object=f"pod/gpu-operator/driver-{node}") for node in NODES)
    return replace(found, findings=(replace(worst, evidence=seen), *others))


def test_text_says_the_first_and_counts_the_rest(sick: Diagnosis) -> None:
    out = StringIO()
    print_text(sick, no_color=True, out=out)
    text = out.getvalue()
    assert len(text.splitlines()) < 150
    left = len(sick.findings[0].evidence) - MOST_EVIDENCE
    assert left > 0
    assert f"  and {left} more of the kind (-o json shows all)\n" in text
    assert text.count("kubectl gpu collect -o bundle.tgz --probe all") == 1
    assert "--probe gpu-" not in text


def test_markdown_is_no_longer(sick: Diagnosis) -> None:
    lines = render_markdown(sick).splitlines()
    assert len(lines) < 150
    assert any(re.fullmatch(r"and \d+ more of the kind \(-o json shows all\)", line) for line in lines)
    assert not any("--probe gpu-" in line for line in lines)
    assert max(map(len, lines)) < 1000


def test_html_folds_the_rest_and_loses_nothing(sick: Diagnosis) -> None:
    page = render_why(sick)
    assert f"<summary>{len(sick.findings[0].evidence) - MOST_EVIDENCE} more</summary>" in page
    assert all(seen.object in page for seen in sick.findings[0].evidence)
