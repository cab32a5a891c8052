"""What `why` quotes in a rule's own cases, `explain` knows as well: the two never differ in what they recognise."""

from typing import Any, Final

import pytest
import yaml

from lockgate.cli.pages import find
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from tests.rules.test_rules import RULES, _file
from tests.rules.world import snapshot

# Quotes that are no error text: settings, rows of tables, states, and words that mean nothing without their place.
_NO_ERROR: Final = (
    "containerEdits:",
    "devices: [",
    "[plugins.",
    "the CRI did not come back",
    "containerd did not come up",
    "default_runtime_name is",
    "accept-nvidia-visible-devices",
    "nvidia_uvm 4956160",
    "vfio_pci 16384",
    "nouveau 2236416",
    "nvidia 56049664",
    "NVRM version:",
    "XID 48",
    "XID 79: needs",
    '{"31":true}',
    "the moon is wrong",
    "error: the moon is",
    "Nov 29 22:00:01 gpu-a systemd[1]: Reloading.",
    "container nvidia-",
    "init container ",
    "error: cannot reach the containerd socket",
    "libnvidia-ml.so.1: file too short",
    "no driver",
    "phase Running",
    "DaemonSet wants",
    "ready on 0 of 1",
)


def _failing() -> list[Any]:
    return [
        pytest.param(rule_id, case, id=f"{rule_id}: {case['case']}")
        for rule_id, rule in RULES.items()
        for case in yaml.safe_load(_file(rule_id).read_text())["cases"]
        if case["kind"] == "failing" and not rule.fallback
    ]


@pytest.mark.parametrize(("rule_id", "case"), _failing())
def test_what_why_quotes_explain_knows(rule_id: str, case: dict[str, Any]) -> None:
    target = parse_target(case.get("ask", "pod/x"), "default")
    said = diagnose(snapshot(case["facts"]), target, tuple(RULES.values())).findings
    quoted = {e.verbatim for f in said if f.id == rule_id for e in f.evidence if e.verbatim}
    assert [words for words in quoted if not words.startswith(_NO_ERROR) and not find(words)] == []


@pytest.mark.parametrize(
    ("asked", "page"),
    [
        ("RuntimeError: CUDA error: out of memory", "gpu-use/shared-memory-full"),
        ("0.5 gpu", "admission/amount-invalid"),
        ("1.5 gpus", "admission/amount-invalid"),
        ("half a gpu", "requests"),
        ("nvidia-smi has failed", "driver/not-answering"),
        ('Back-off pulling image "app:nope"', "pod/image"),
    ],
)
def test_a_short_text_leads_to_its_page(asked: str, page: str) -> None:
    assert page in [found.id for found in find(asked)]
