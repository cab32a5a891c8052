"""Gate 1 of a pod with a node says the same of that node as a look at the whole cluster does."""

from typing import Any

import msgspec
import pytest

from lockgate.diagnosis.views.gate_of_pod import gate_of_pod
from lockgate.diagnosis.views.gate_one import gate_at, gate_one
from lockgate.diagnosis.views.places import Places
from lockgate.model.facts import Missing, Pods
from tests.rules.world import snapshot

FACTS: dict[str, Any] = {
    "nodes": {"gpu-#": {"times": 3}},
    "pods": {
        "default/held": {"like": "running", "spec": {"nodeName": "gpu-2"}},
        "default/refused": {"like": "refused", "spec": {"nodeName": "gpu-2"}},
        "default/lost": {"like": "refused", "spec": {"nodeName": "gone"}},
        "default/waits": {},
    },
}


@pytest.mark.parametrize("name", ["held", "refused", "lost", "waits"])
@pytest.mark.parametrize("known", [True, False])
def test_the_same_rows_come_out(name: str, known: bool) -> None:
    facts = snapshot(FACTS)
    nodes, pods = facts.nodes, facts.pods
    assert not isinstance(nodes, Missing)
    assert not isinstance(pods, Missing)
    asked = next(p for p in pods if p.name == name)
    told: Pods | Missing = pods if known else Missing("may not be read")
    general = gate_one(asked, nodes, told, ())
    assert gate_of_pod(asked, asked.spec, Places(nodes, told), (), ()) == general
    assert len(general.rows) == {"waits": 3, "lost": 0}.get(name, 1)


def test_pods_that_are_judged_one_after_the_other_are_judged_as_each_alone() -> None:
    facts = snapshot(FACTS)
    nodes, pods = facts.nodes, facts.pods
    assert not isinstance(nodes, Missing)
    assert not isinstance(pods, Missing)
    shared = Places(nodes, pods)
    for pod in (*pods, *reversed(pods)):
        assert gate_at(shared, pod) == gate_one(pod, nodes, pods, ())
    held = gate_at(shared, next(p for p in pods if p.name == "waits"))
    assert [h.pod for row in held.rows for h in row.holders] == ["default/held"]
    assert held.nearest is held.nearest
    assert msgspec.structs.replace(held, rows=()).nearest == ()
