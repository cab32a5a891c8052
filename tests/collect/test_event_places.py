"""In which namespace events are whose table does not show it: where what they are about is, if that is one place."""

import pytest

from lockgate.collect.event_places import homes, placed, unplaced
from lockgate.model.facts import Snapshot
from lockgate.model.objects import Event, Metadata, ObjectReference, Pod, Workload
from lockgate.model.told import UNSEEN_NAMESPACE


def about(kind: str, name: str, namespace: str = UNSEEN_NAMESPACE) -> Event:
    reference = ObjectReference(kind=kind, namespace=namespace, name=name)
    return Event(metadata=Metadata(namespace=namespace), involved_object=reference)


def pod(namespace: str) -> Pod:
    return Pod(metadata=Metadata(namespace=namespace, name="w"))


JOB = Workload(metadata=Metadata(namespace="ml", name="tune"), kind="Job")


@pytest.mark.parametrize(
    ("event", "known", "namespace"),
    [
        (about("Pod", "w"), Snapshot(namespace_pods=(pod("ml"),)), "ml"),
        (about("Job", "tune"), Snapshot(jobs=(JOB,)), "ml"),
        (about("Pod", "w"), Snapshot(pods=(pod("ml"), pod("other"))), UNSEEN_NAMESPACE),
        (about("Pod", "tune"), Snapshot(jobs=(JOB,)), UNSEEN_NAMESPACE),
        (about("Pod", "w", "shown"), Snapshot(pods=(pod("ml"),)), "shown"),
    ],
)
def test_an_event_is_where_the_one_object_of_its_kind_and_name_is(
    event: Event, known: Snapshot, namespace: str
) -> None:
    (there,) = placed((event,), homes((known,)))
    assert (there.metadata.namespace, there.involved_object.namespace) == (namespace, namespace)


def test_what_stayed_without_a_namespace_is_said() -> None:
    assert [part.section for part in unplaced((about("Pod", "w"),))] == ["namespace"]
    assert unplaced((about("Pod", "w", "ml"),)) == ()
