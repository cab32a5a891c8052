"""Operands that are left out for one reason are told once, by name; each reason is told apart."""

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import CLUSTER, Target
from lockgate.model.finding import Finding
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = tuple(all_rules())
DEPLOY = "nvidia.com/gpu.deploy."


def _left_out(**labels: str | None) -> list[Finding]:
    """What is said of operands of the second of two nodes, whose labels differ so."""
    own = {f"{DEPLOY}{name.replace('_', '-')}": value for name, value in labels.items()}
    facts = snapshot({"operator": {"nodes": ["gpu-a", "gpu-b"]}, "nodes": {"gpu-b": {"metadata": {"labels": own}}}})
    findings = diagnose(facts, Target(CLUSTER, ""), RULES).findings
    return [f for f in findings if f.id == "operands/left-out"]


def test_two_operands_that_a_person_switched_off_are_one_remark() -> None:
    (only,) = _left_out(dcgm_exporter="false", mig_manager="false")
    assert only.title == "Operands are left out of nodes by a person's label"
    assert "The same holds for mig-manager." in only.summary
    assert only.affects == ("dcgm-exporter", "mig-manager")


def test_a_label_that_is_absent_is_another_fault_than_one_that_a_person_set() -> None:
    told = {f.title: f.affects for f in _left_out(dcgm_exporter="false", gpu_feature_discovery=None)}
    assert sorted(told.values()) == [("dcgm-exporter",), ("gpu-feature-discovery",)]


def test_one_operand_is_told_by_its_own_words() -> None:
    (only,) = _left_out(mig_manager="false")
    assert only.summary.startswith("mig-manager: DESIRED 2, kept from 1 of 2 GPU nodes (gpu-b): the node has")
