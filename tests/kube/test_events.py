"""Events and conditions: said once, counted when said again, with honest times."""

import asyncio
import datetime as dt

from lockgate.kube.conditions import renew
from lockgate.kube.events import Recorder
from lockgate.model.objects import Condition, ObjectReference
from tests.kube.fake_server import fake_api, status
from tests.kube.small_cluster import SmallCluster

POLICY = ObjectReference(api_version="nvidia.com/v1", kind="ClusterPolicy", name="p", uid="u")
NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


def recorded(*messages: str, cluster: SmallCluster | None = None) -> list[dict[str, object]]:
    cluster = cluster or SmallCluster()

    async def main() -> None:
        async with fake_api(cluster.handle) as (_, api, _waits):
            recorder = Recorder(api, "lockgate-operator", clock=lambda: NOON)
            for message in messages:
                await recorder.record(POLICY, "Warning", "Blocked", message)

    asyncio.run(main())
    return list(cluster.objects.values())


def test_an_event_about_a_cluster_object_is_in_namespace_default() -> None:
    (event,) = recorded("taint")
    metadata = event["metadata"]
    assert isinstance(metadata, dict)
    assert metadata["namespace"] == "default"
    assert (event["reason"], event["message"], event["count"]) == ("Blocked", "taint", 1)


def test_the_same_event_again_is_counted() -> None:
    (event,) = recorded("taint", "taint", "taint")
    assert event["count"] == 3


def test_another_message_is_another_event() -> None:
    assert len(recorded("taint", "label")) == 2


def test_an_event_that_cannot_be_written_does_not_stop_the_work() -> None:
    cluster = SmallCluster()
    cluster.refuse["POST /api/v1/namespaces/default/events"] = status(403, "Forbidden")
    assert recorded("taint", cluster=cluster) == []


def condition(holds: str, since: dt.datetime | None = None, message: str = "") -> Condition:
    return Condition(type="Ready", status=holds, reason="R", message=message, last_transition_time=since)


def test_a_condition_that_keeps_its_status_keeps_its_time() -> None:
    (found,) = renew([condition("False", NOON, "old")], [condition("False", message="new")], NOON.replace(hour=13), 2)
    assert (found.last_transition_time, found.message, found.observed_generation) == (NOON, "new", 2)


def test_a_condition_that_changes_gets_the_present() -> None:
    later = NOON.replace(hour=13)
    (found,) = renew([condition("False", NOON)], [condition("True")], later, 1)
    assert found.last_transition_time == later


def test_a_condition_that_is_no_longer_said_goes() -> None:
    assert renew([condition("False", NOON)], [], NOON, 1) == ()
