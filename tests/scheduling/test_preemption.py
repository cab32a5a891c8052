"""What evicting would do, and the whole text of the scheduler's event."""

import datetime as dt
from typing import Any

import msgspec
import pytest

from lockgate.model.objects import Metadata, Pod
from lockgate.scheduling.filters import looks_beyond, place
from lockgate.scheduling.preemption import Candidate, Preemption, explain, explanations, preempt
from lockgate.scheduling.scene import scene
from tests.scheduling.build import node, pod
from tests.scheduling.test_budgets import budget

GPU = "nvidia.com/gpu"
FULL = scene([node("a"), node("b", allocatable={"pods": "9"})], [pod("low", requests={GPU: 8}, nodeName="a")])


def test_the_whole_text_of_the_event() -> None:
    assert explain(pod(requests={GPU: 1}), FULL) == (
        "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: 0/2 nodes are available: "
        "1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
    )


def test_lower_priority_makes_a_victim() -> None:
    urgent = pod(requests={GPU: 1}, priority=10)
    assert preempt(urgent, FULL, place(urgent, FULL)).candidates == ("a",)
    assert explain(urgent, FULL) == (
        "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. "
        "preemption: found a potential placement for pod on node a, preempting 1 victims"
    )


def test_victims_that_would_not_be_enough_are_not_taken() -> None:
    held = scene(
        [node("a")],
        [pod("low", requests={GPU: 1}, nodeName="a"), pod("x", requests={GPU: 7}, nodeName="a", priority=10)],
    )
    urgent = pod(requests={GPU: 4}, priority=10)
    found = preempt(urgent, held, place(urgent, held))
    assert (found.candidates, found.counts) == ((), {f"Insufficient {GPU}": 1})


def test_a_pod_that_may_not_evict_says_so() -> None:
    modest = pod(requests={GPU: 1}, priority=10, preemptionPolicy="Never")
    assert explain(modest, FULL).endswith("preemption: not eligible due to preemptionPolicy=Never.")


def test_a_pod_that_fits_needs_no_text() -> None:
    assert explain(pod(), FULL) == ""


def held(name: str, gpus: int, where: str, priority: int = 0, **fields: Any) -> Pod:
    status = {"phase": "Running", "startTime": fields.pop("started", "2026-11-29T00:00:00Z")}
    return pod(name, requests={GPU: gpus}, nodeName=where, priority=priority, status=status, **fields)


def tried(pods: list[Pod], gpus: int = 8, nodes: str = "ab", budgets: Any = ()) -> Preemption:
    there = scene([node(name) for name in nodes], pods, budgets=budgets)
    urgent = pod("urgent", requests={GPU: gpus}, priority=100)
    return preempt(urgent, there, place(urgent, there))


def victims(candidate: Candidate) -> list[str]:
    return [victim.name for victim in candidate.victims]


def test_as_many_as_possible_are_spared_the_most_important_first() -> None:
    pods = [held("low", 4, "a", 1), held("lower", 4, "a", 0), held("full", 8, "b", 100)]
    (only,) = tried(pods, gpus=4).best
    assert (only.node, victims(only)) == ("a", ["lower"])


def test_of_equals_the_longer_running_is_spared() -> None:
    pods = [held("new", 4, "a", started="2026-11-29T01:00:00Z"), held("old", 4, "a"), held("full", 8, "b", 100)]
    assert [victims(c) for c in tried(pods, gpus=4).best] == [["new"]]


def test_pods_whose_budget_would_be_overdrawn_are_spared_first() -> None:
    pods = [held("guarded", 4, "a", 0, labels={"app": "x"}), held("free", 4, "a", 50), held("full", 8, "b", 100)]
    (only,) = tried(pods, gpus=4, budgets=[budget("b", 0)]).best
    assert (victims(only), only.violations) == (["free"], 0)
    (only,) = tried(pods, gpus=8, budgets=[budget("b", 0)]).best
    assert (victims(only), only.violations) == (["free", "guarded"], 1)


def test_the_node_is_taken_whose_victims_matter_least() -> None:
    """Budgets before the highest priority, before the sum of priorities, before the number, before the age."""
    labels = {"labels": {"app": "x"}}
    cases = [
        ([held("g", 8, "a", 0, **labels), held("f", 8, "b", 90)], [budget("b", 0)], "b"),
        ([held("p", 8, "a", 5), held("q", 4, "b", 4), held("r", 4, "b", 4)], [], "b"),
        ([held("p", 4, "a", 5), held("s", 4, "a", 1), held("q", 4, "b", 5), held("r", 4, "b", 4)], [], "a"),
        ([held("p", 4, "a", 5), held("s", 4, "a", 5), held("q", 8, "b", 5)], [], "b"),
        ([held("p", 4, "a", 5), held("s", 4, "a", -3), held("q", 8, "b", 5)], [], "b"),
        ([held("p", 8, "a", 5), held("q", 8, "b", 5, started="2026-11-29T02:00:00Z")], [], "b"),
    ]
    assert [[c.node for c in tried(pods, budgets=budgets).best] for pods, budgets, _ in cases] == [
        [name] for _, _, name in cases
    ]


def test_a_terminating_victim_leaves_a_spread_that_never_counted_it() -> None:
    """As kube-scheduler 1.37 counts: the node then looks emptier than it is."""
    spread = {
        "maxSkew": 1,
        "topologyKey": "host",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
    labels = {"app": "x"}
    nodes = [node(name, labels={"host": name}) for name in "ab"]
    high = pod("high", labels=labels, nodeName="a", priority=200)
    going = Metadata(name="ending", namespace="default", labels=labels, deletion_timestamp=dt.datetime.now(dt.UTC))
    ending = msgspec.structs.replace(held("ending", 1, "a"), metadata=going)
    there = scene(nodes, [high, ending, held("full", 8, "b", 200)])
    urgent = pod("urgent", requests={GPU: 1}, labels=labels, priority=100, topologySpreadConstraints=[spread])
    assert [c.node for c in preempt(urgent, there, place(urgent, there)).best] == ["a"]


SPREAD = {
    "maxSkew": 1,
    "topologyKey": "host",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {}},
}


@pytest.mark.parametrize(
    ("fields", "there", "beyond"),
    [
        ({}, {}, False),
        ({"topologySpreadConstraints": [SPREAD]}, {}, True),
        ({"affinity": {"podAffinity": {}}}, {}, True),
        ({}, {"affinity": {"podAntiAffinity": {}}}, True),
        ({"affinity": {"nodeAffinity": {}}}, {}, False),
    ],
)
def test_whether_other_nodes_decide_about_one(fields: Any, there: Any, beyond: bool) -> None:
    assert looks_beyond(pod(**fields), scene([node("a")], [pod("x", nodeName="a", **there)])) is beyond


def test_where_victims_matter_equally_the_scheduler_draws() -> None:
    pods = [held("p", 8, "a"), held("q", 8, "b")]
    assert [c.node for c in tried(pods).best] == ["a", "b"]
    urgent = pod(requests={GPU: 8}, priority=100)
    texts = explanations(urgent, scene([node("a"), node("b")], pods))
    assert [text.rpartition("on node ")[2] for text in texts] == [f"{n}, preempting 1 victims" for n in "ab"]
