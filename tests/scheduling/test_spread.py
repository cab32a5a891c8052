"""Topology spread: skew against the emptiest eligible domain."""

import datetime as dt
from typing import Any

import msgspec

from lockgate.scheduling.filters import place
from lockgate.scheduling.scene import Scene, scene
from tests.scheduling.build import node, pod

APP = {"app": "train"}


def zones(**names: str) -> list[Any]:
    return [node(name, labels={"zone": zone}) for name, zone in names.items()]


def spread(**fields: Any) -> list[dict[str, Any]]:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    return [constraint | {"labelSelector": {"matchLabels": APP}} | fields]


def there(node_name: str, **fields: Any) -> Any:
    return pod(f"on-{node_name}", nodeName=node_name, labels=APP, **fields)


def fitting(cluster: Scene, **fields: Any) -> tuple[str, ...]:
    selector = fields.pop("nodeSelector", {})
    asked = pod(labels=APP, topologySpreadConstraints=spread(**fields), nodeSelector=selector)
    return place(asked, cluster).nodes_that_fit


def test_only_the_emptiest_zone_may_grow() -> None:
    cluster = scene(zones(a1="a", a2="a", b1="b"), [there("a1")])
    assert fitting(cluster) == ("b1",)
    assert fitting(cluster, maxSkew=2) == ("a1", "a2", "b1")


def test_preferring_constraints_never_refuse() -> None:
    assert fitting(scene(zones(a="a", b="b"), [there("a")]), whenUnsatisfiable="ScheduleAnyway") == ("a", "b")


def test_a_node_without_the_label_is_refused_with_its_own_words() -> None:
    placement = place(pod(topologySpreadConstraints=spread()), scene([node("bare")], []))
    assert placement.counts == {"node(s) didn't match pod topology spread constraints (missing required label)": 1}


def test_too_few_domains_count_as_an_empty_one() -> None:
    cluster = scene(zones(a="a", b="b"), [there("a"), there("b")])
    assert fitting(cluster) == ("a", "b")
    assert fitting(cluster, minDomains=3) == ()


def test_zones_that_the_selector_excludes_do_not_count_as_empty_unless_asked() -> None:
    cluster = scene([*zones(a="a"), node("b", labels={"zone": "b", "disk": "hdd"})], [there("a")])
    only_a = {"zone": "a"}
    assert fitting(cluster, nodeSelector=only_a) == ("a",)
    assert fitting(cluster, nodeSelector=only_a, nodeAffinityPolicy="Ignore") == ()


def test_tainted_nodes_count_unless_told_otherwise() -> None:
    tainted = node("b", labels={"zone": "b"}, taints=[{"key": "k", "effect": "NoSchedule"}])
    cluster = scene([*zones(a="a"), tainted], [there("a")])
    assert fitting(cluster) == ()
    assert fitting(cluster, nodeTaintsPolicy="Honor") == ("a",)


def test_pods_that_end_or_live_elsewhere_are_not_counted() -> None:
    ending = there("a")
    metadata = msgspec.structs.replace(ending.metadata, deletion_timestamp=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    elsewhere = there("a", namespace="other")
    for uncounted in (msgspec.structs.replace(ending, metadata=metadata), elsewhere):
        assert fitting(scene(zones(a="a", b="b"), [uncounted])) == ("a", "b")
