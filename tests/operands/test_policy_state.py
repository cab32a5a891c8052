"""What a policy's status says: which policy counts, its state, and why not ready."""

import datetime as dt

from lockgate.model.objects import ClusterPolicy, Condition, Metadata
from lockgate.model.policy import parse_spec
from lockgate.operands.policy_state import active, failed, ignored, judged
from lockgate.operands.unsupported import unsupported


def policy(name: str, day: int) -> ClusterPolicy:
    return ClusterPolicy(metadata=Metadata(name=name, creation_timestamp=dt.datetime(2026, 1, day, tzinfo=dt.UTC)))


def condition(kind: str, holds: bool, reason: str = "Running", message: str = "m") -> Condition:
    return Condition(type=kind, status=str(holds), reason=reason, message=message)


def test_the_oldest_policy_counts_then_the_first_by_name() -> None:
    policies = [policy("c", 2), policy("b", 1), policy("a", 1)]
    found = active(policies)
    assert found is not None
    assert found.name == "a"
    assert active([]) is None


def test_ready_only_when_every_operand_is() -> None:
    found = judged([("s1", condition("A", True)), ("s2", condition("B", True))])
    assert (found.state, found.summary.type, found.summary.reason) == ("ready", "Ready", "Reconciled")
    assert [c.type for c in found.conditions] == ["Ready", "Error", "A", "B"]


def test_one_operand_that_is_not_ready_is_named_in_nvidias_words() -> None:
    found = judged([("s1", condition("A", True)), ("s2", condition("B", False, "Blocked", "taint"))])
    assert (found.state, found.summary.reason) == ("notReady", "OperandNotReady")
    assert found.summary.message == "ClusterPolicy is not ready; states not ready: [s2]: s2: taint"


def test_a_cluster_without_gpus_has_nvidias_reason_and_is_not_called_ready() -> None:
    found = judged([("s1", condition("A", False, "NoGPUNodes")), ("s2", condition("B", False, "NoGPUNodes"))])
    assert (found.state, found.summary.reason) == ("notReady", "NoGPUNodes")


def test_a_second_policy_is_told_who_is_in_charge() -> None:
    found = ignored("cluster-policy")
    assert (found.state, found.summary.reason) == ("ignored", "Ignored")
    assert '"cluster-policy" is in charge' in found.summary.message


def test_a_policy_that_cannot_be_read_is_not_ready() -> None:
    assert failed("ReconcileFailed", "x").state == "notReady"


def test_what_is_asked_for_in_vain_names_the_field_to_unset() -> None:
    asked = {
        "driver": {},
        "dcgm": {"enabled": False},
        "dcgmExporter": {"enabled": True},
        "migManager": {"enabled": False},
    }
    found = unsupported(parse_spec(asked))
    assert [row.switch for row in found] == ["spec.driver.enabled", "spec.dcgmExporter.enabled"]
    assert found[0].message.endswith("set spec.driver.enabled=false")
