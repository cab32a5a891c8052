"""Pods of a kind are asked about once, and come in the order in which they are known."""

from lockgate.diagnosis.views.pod_kinds import PodKinds, pod_kinds
from lockgate.model.facts import Missing
from lockgate.model.objects import Container, Metadata, Pod, PodSpec

ASKED = ({"app": "a"}, (Container(name="a"),))
OTHER = ({"app": "b"}, (Container(name="b"),))


def pod(name: str, kind: tuple[dict[str, str], tuple[Container, ...]]) -> Pod:
    labels, containers = kind
    return Pod(metadata=Metadata(name=name, labels=labels), spec=PodSpec(containers=containers, node_name=name))


def test_each_kind_is_asked_about_once_and_its_pods_come_in_their_order() -> None:
    pods = (pod("1", ASKED), pod("2", OTHER), pod("3", ASKED), pod("4", OTHER), pod("5", ASKED))
    asked: list[str] = []

    def holds(each: Pod) -> bool:
        asked.append(each.name)
        return each.metadata.labels["app"] == "a"

    assert [each.name for each in PodKinds(pods).of(holds)] == ["1", "3", "5"]
    assert asked == ["1", "2"]


def test_pods_that_are_equal_and_share_nothing_are_asked_about_each() -> None:
    pods = (pod("1", ({"app": "a"}, ASKED[1])), pod("2", ({"app": "a"}, ASKED[1])))
    pods += (pod("3", (ASKED[0], ())), pod("4", (ASKED[0], ())))  # an empty tuple is the same everywhere
    names: list[str] = []
    PodKinds(pods).of(lambda each: bool(names.append(each.name)))
    assert names == ["1", "2", "3", "4"]


def test_where_not_all_pods_are_known_those_of_the_namespace_are() -> None:
    near = (pod("1", ASKED),)
    assert pod_kinds(Missing("no"), near).pods is near
    assert pod_kinds((), near).pods == ()
    assert pod_kinds(Missing("no"), Missing("no")).pods == ()
