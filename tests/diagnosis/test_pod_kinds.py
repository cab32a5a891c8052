"""Pods of a kind are asked about once, and come in the order in which they are known."""

from msgspec.structs import replace

from lockgate.diagnosis.scope import scope
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.target import CLUSTER, Target
from lockgate.diagnosis.views.pod_kinds import PodKinds, pod_kinds
from lockgate.model.facts import Missing
from lockgate.model.objects import Container, Metadata, Pod, PodSpec, ResourceRequirements
from tests.rules.world import snapshot

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


def test_of_one_workload_those_that_wait_for_a_name_that_looks_like_a_gpus_are_asked_about() -> None:
    """The pods share what is of their workload, as long lists do; one of them has its node."""
    known = snapshot({"nodes": {"gpu-a": {}}, "pods": {"ml/a": {"like": "running"}, "ml/b": {}, "ml/c": {}}})
    assert not isinstance(known.pods, Missing)
    a, b, c = known.pods
    misspelt = (Container(name="main", resources=ResourceRequirements(requests={"nvidia.com/gpus": "1"})),)
    labels, owners = {"app": "x"}, a.metadata.owner_references

    def placed(pod: Pod, node: str) -> Pod:
        spec = replace(pod.spec, containers=misspelt, node_name=node)
        return replace(pod, metadata=replace(pod.metadata, labels=labels, owner_references=owners), spec=spec)

    for pods in ((placed(a, "gpu-a"), placed(b, "")), (placed(c, ""), placed(a, "gpu-a"))):
        about = scope(replace(known, pods=pods, namespace_pods=pods), Target(CLUSTER, "")).about
        assert [s.pod.name for s in about if s.pod and s.stage is Stage.SCHEDULING] == [
            p.name for p in pods if not p.spec.node_name
        ]
        assert [s.pod.name for s in about if s.pod and s.stage is Stage.RUNNING] == []
