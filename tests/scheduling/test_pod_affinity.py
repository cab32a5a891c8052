"""Pod affinity and anti-affinity, both ways."""

from typing import Any

import msgspec

from lockgate.model.objects import Namespace
from lockgate.scheduling.filters import place
from lockgate.scheduling.scene import scene
from tests.scheduling.build import node, pod

NODES = [node("a1", labels={"zone": "a"}), node("a2", labels={"zone": "a"}), node("b1", labels={"zone": "b"})]


def term(app: str, **fields: Any) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "zone", **fields}


def asks(*, near: list[dict[str, Any]] | None = None, away: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"podAffinity": {required: near or []}, "podAntiAffinity": {required: away or []}}


def test_company_in_the_same_domain_is_enough() -> None:
    cluster = scene(NODES, [pod("db", nodeName="a1", labels={"app": "db"})])
    assert place(pod(affinity=asks(near=[term("db")])), cluster).nodes_that_fit == ("a1", "a2")


def test_all_terms_must_be_met_by_one_pod() -> None:
    cluster = scene(
        NODES, [pod("db", nodeName="a1", labels={"app": "db"}), pod("x", nodeName="a1", labels={"app": "x"})]
    )
    assert place(pod(affinity=asks(near=[term("db"), term("x")])), cluster).nodes_that_fit == ()


def test_the_first_of_its_kind_may_go_anywhere_that_has_the_key() -> None:
    first = pod(labels={"app": "ring"}, affinity=asks(near=[term("ring")]))
    cluster = scene([*NODES, node("bare")], [])
    assert place(first, cluster).nodes_that_fit == ("a1", "a2", "b1")
    assert place(first, cluster.with_pod(first, "b1")).nodes_that_fit == ("b1",)


def test_anti_affinity_closes_the_whole_domain() -> None:
    cluster = scene(NODES, [pod("db", nodeName="a1", labels={"app": "db"})])
    placement = place(pod(affinity=asks(away=[term("db")])), cluster)
    assert placement.nodes_that_fit == ("b1",)
    assert placement.counts == {"node(s) didn't match pod anti-affinity rules": 2}


def test_pods_already_there_may_refuse_company() -> None:
    loner = pod("loner", nodeName="a1", affinity=asks(away=[term("train")]))
    placement = place(pod(labels={"app": "train"}), scene(NODES, [loner]))
    assert placement.counts == {"node(s) didn't satisfy existing pods anti-affinity rules": 2}


def test_another_namespace_is_meant_only_when_named_or_selected() -> None:
    db = pod("db", nodeName="a1", labels={"app": "db"}, namespace="data")
    labelled = msgspec.convert({"metadata": {"name": "data", "labels": {"tier": "gold"}}}, Namespace)
    cluster = scene(NODES, [db], [labelled])

    def fitting(**fields: Any) -> tuple[str, ...]:
        return place(pod(affinity=asks(near=[term("db", **fields)])), cluster).nodes_that_fit

    assert fitting() == ()
    assert fitting(namespaces=["data"]) == ("a1", "a2")
    assert fitting(namespaceSelector={"matchLabels": {"tier": "gold"}}) == ("a1", "a2")
    assert fitting(namespaceSelector={"matchLabels": {"tier": "lead"}}) == ()
    assert fitting(namespaceSelector={}) == ("a1", "a2")


def test_unknown_namespace_labels_are_said() -> None:
    asked = pod(affinity=asks(near=[term("db", namespaceSelector={})]))
    assert "namespaceSelector" in place(asked, scene(NODES, [])).unmodelled[0]
