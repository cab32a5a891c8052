"""Which events are about an object: those of a namesake of the past are not, and a node's may call its name its uid."""

import pytest

from lockgate.diagnosis.views.events_by_object import EventsByObject
from lockgate.model.objects import Event, Metadata, Node, ObjectReference, Pod


@pytest.mark.parametrize(("uid", "is_about"), [("1", True), ("", True), ("gpu-a", True), ("2", False)])
def test_a_nodes_events_are_told_by_its_uid_and_by_its_name_in_place_of_one(uid: str, is_about: bool) -> None:
    node = Node(metadata=Metadata(name="gpu-a", uid="1"))
    told = Event(reason="Rebooted", involved_object=ObjectReference(kind="Node", name="gpu-a", uid=uid))
    assert bool(EventsByObject([told]).of("Node", node)) == is_about


def test_a_pod_of_the_same_name_in_another_namespace_is_another() -> None:
    pod = Pod(metadata=Metadata(name="x", namespace="ml"))
    told = Event(involved_object=ObjectReference(kind="Pod", name="x", namespace="default"))
    assert EventsByObject([told]).of("Pod", pod) == ()
