"""Every recorded cluster still gets the answer that is written beside it."""

import io
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockgate.cli.render.text import Paint, render_text
from lockgate.collect.offline import from_path
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.model.codec import dump_snapshot, load_snapshot
from lockgate.rules import all_rules

HERE = Path(__file__).parent
RULES = tuple(all_rules())
KEYS = {"ask", "namespace", "verdict", "exit", "causes", "followers", "codes", "without", "says"}


def _cases() -> list[Any]:
    found = []
    for expected in sorted(HERE.glob("*.yaml")):
        for case in yaml.safe_load(expected.read_text())["cases"]:
            found.append(pytest.param(expected.with_suffix(".tgz"), case, id=f"{expected.stem}:{case['ask']}"))
    return found


@pytest.mark.parametrize(("bundle", "case"), _cases())
def test_a_recorded_cluster_gets_its_answer(bundle: Path, case: dict[str, Any]) -> None:
    snapshot = from_path(str(bundle), io.BytesIO())
    diagnosis = diagnose(snapshot, parse_target(case["ask"], case.get("namespace", "default")), RULES)
    roots = [f for f in diagnosis.findings if not f.follows]
    text = " ".join(" ".join(render_text(diagnosis, Paint(False))).split())

    assert (diagnosis.verdict.value, [f.id for f in roots]) == (case["verdict"], case["causes"])
    assert diagnosis.exit_code == case["exit"]
    assert [f.id for f in diagnosis.findings if f.follows] == case.get("followers", [])
    assert "codes" not in case or list(roots[0].codes) == case["codes"]
    assert not {f.id for f in diagnosis.findings} & set(case.get("without", []))
    assert [words for words in case.get("says", []) if words not in text] == []


def test_every_bundle_has_an_expectation_and_none_is_misspelt() -> None:
    bundles, expected = ({p.stem for p in HERE.glob(f"*.{suffix}")} for suffix in ("tgz", "yaml"))
    assert bundles == expected
    for path in HERE.glob("*.yaml"):
        document = yaml.safe_load(path.read_text())
        assert set(document) <= {"about", "demo", "cases"}
        assert [set(case) - KEYS for case in document["cases"] if set(case) - KEYS] == []


@pytest.mark.parametrize("bundle", sorted(HERE.glob("*.tgz")), ids=lambda p: p.stem)
def test_the_facts_of_a_bundle_survive_the_codec(bundle: Path) -> None:
    snapshot = from_path(str(bundle), io.BytesIO())
    assert load_snapshot(dump_snapshot(snapshot)) == snapshot
