"""An edit of one document is found, simulated on that document alone, and put together with edits of others."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.lint import all_rules
from lockgate.lint.engine import fix_all, lint
from lockgate.lint.parts import change, narrowed, part_at, together
from lockgate.lint.subject import Subject

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: p{0}}}
spec:
  containers:
  - name: a
    image: registry.example/a:1
    env: [{{name: NOTE, value: "--- no end"}}]
    resources:
      requests:
        nvidia.com/gpu: 1
"""
TEXT = "# all\n" + "---\n".join(POD.format(n) for n in range(3))
RULES = all_rules()


@given(st.text("ab\n", max_size=12), st.text("ab\n", max_size=12))
def test_a_change_leads_from_one_text_to_the_other(old: str, new: str) -> None:
    made = change(old, new)
    assert old[: made.start] + made.new + old[made.end :] == new


def test_a_change_lies_in_one_document_or_in_none() -> None:
    second = TEXT.index("p1")
    found = part_at(TEXT, change(TEXT, TEXT.replace("p1", "pX")))
    assert found is not None and found[0] < second < found[1]
    assert TEXT[found[0] : found[1]] == "---\n" + POD.format(1)
    assert part_at(TEXT, change(TEXT, TEXT.replace("p0", "x").replace("p1", "x"))) is None
    directive = "%YAML 1.1\n---\na: 1\n"
    assert part_at(directive, change(directive, directive.replace("a: 1", "a: 2"))) is None


def test_the_document_alone_has_its_number_and_the_edit() -> None:
    subject = Subject({"x.yaml": TEXT}, holds_manifests=True)
    found = narrowed(subject, {"x.yaml": TEXT.replace("p1", "pX")})
    assert found is not None
    alone, edit = found
    assert (alone.text("x.yaml"), alone.first_object) == ("---\n" + POD.format(1), 1)
    assert edit == {"x.yaml": "---\n" + POD.format("X")}


def test_edits_of_different_documents_are_made_at_once_and_those_of_one_wait() -> None:
    edits = [TEXT.replace(f"p{n}", f"q{n}") for n in (2, 0)]
    later = TEXT.replace("name: p0", "name: r0")
    assert together(TEXT, [*edits, later]) == TEXT.replace("p0", "q0").replace("p2", "q2")


@pytest.mark.parametrize("count", [1, 60])
def test_long_files_are_healed_document_by_document(count: int) -> None:
    text = "---\n".join(POD.format(n) for n in range(count))
    subject = Subject({"x.yaml": text}, holds_manifests=True)
    began = time.process_time()
    report, fixed = lint(subject, RULES), fix_all(subject, RULES, frozenset(["x.yaml"]))
    assert [finding.fix for finding in report.findings] == ["limit nvidia.com/gpu to 1 too"] * count
    assert lint(subject.edited(fixed), RULES).findings == ()
    assert fixed["x.yaml"].count("      limits:\n        nvidia.com/gpu: 1\n") == count
    assert time.process_time() - began < 1 + 0.2 * count, "each document is simulated on its own"
