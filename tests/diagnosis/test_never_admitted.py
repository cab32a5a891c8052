"""Which of the work that Kueue holds waits for good, and which waits its turn."""

import pytest

from lockgate.diagnosis.never_admitted import never_admitted
from lockgate.model.facts import Missing
from lockgate.model.objects import Condition, Metadata, OwnerReference
from lockgate.model.queues import QueuedWorkload, QueuedWorkloadStatus

JOB = ("Job", "t", "jj")


def queued(*conditions: Condition) -> tuple[QueuedWorkload]:
    owner = OwnerReference(kind="Job", name="jj")
    metadata = Metadata(name="job-jj-1", namespace="t", owner_references=(owner,))
    return (QueuedWorkload(metadata=metadata, status=QueuedWorkloadStatus(conditions=conditions)),)


def refused(message: str, reason: str = "Pending") -> Condition:
    return Condition(type="QuotaReserved", status="False", reason=reason, message=message)


@pytest.mark.parametrize(
    "condition",
    [
        refused("whatever", "ExceedsMaxQuota"),
        refused("The workload requests exceed the maximum quota: nvidia.com/gpu 8 > 4"),
        refused("insufficient quota for nvidia.com/gpu in flavor a100, request (16) > maximum capacity (8)"),
        refused("LocalQueue team-a doesn't exist", "Inadmissible"),
    ],
)
def test_what_no_quota_would_ever_take_is_never_admitted(condition: Condition) -> None:
    assert never_admitted(queued(condition)) == {JOB}


@pytest.mark.parametrize(
    "condition",
    [
        refused("insufficient unused quota for nvidia.com/gpu in flavor a100, 2 more needed"),
        refused("LocalQueue lq is inactive", "Inadmissible"),
        refused("ClusterQueue all is inactive", "Inadmissible"),
        Condition(type="QuotaReserved", status="True", reason="QuotaReserved"),
    ],
)
def test_what_waits_its_turn_is_not(condition: Condition) -> None:
    assert never_admitted(queued(condition)) == frozenset()


def test_what_was_admitted_once_or_was_not_read_is_not() -> None:
    admitted = Condition(type="Admitted", status="True")
    assert never_admitted(queued(refused("x", "ExceedsMaxQuota"), admitted)) == frozenset()
    assert never_admitted(Missing("may not be read")) == frozenset()
