"""Rules that are given the very same facts again are not asked again; any other fact makes them asked."""

from typing import Any

from lockgate.diagnosis.engine import diagnose, outcome
from lockgate.diagnosis.panel import Panel
from lockgate.diagnosis.rule import Failed, Rule, needs_of
from lockgate.diagnosis.scope import scope
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.subject import Common, Facts, Subject
from lockgate.diagnosis.target import CLUSTER, Target
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.model.facts import Missing, Nodes
from lockgate.model.finding import Severity
from lockgate.model.objects import Node, Pod
from lockgate.rules import all_rules
from tests.rules.world import snapshot

ASKED: list[str] = []
FACTS: dict[str, Any] = {"nodes": {"gpu-#": {"times": 3}}}


def _rule(id: str, check: Any) -> Rule:
    return Rule(
        id=id,
        title=id,
        codes=(),
        severity=Severity.ERROR,
        stages=(Stage.NODE,),
        gpu=True,
        fallback=False,
        aside=False,
        asks_gpu=None,
        mutes=(),
        needs=needs_of(check),
        check=check,
        page="",
    )


def of_the_stack(ailing: Ailing) -> None:
    ASKED.append("stack")


def of_the_node(node: Node) -> Failed:
    ASKED.append(node.name)
    return Failed(about=node.name, summary="broken")


def of_a_pod_that_is_lacking(workload: Any, nodes: Nodes) -> None:
    raise AssertionError("called")


def test_what_is_well_alike_is_judged_once_and_what_differs_each() -> None:
    known = snapshot(FACTS)
    assert not isinstance(known.nodes, Missing)
    common = Common(known)
    rules = [_rule("a/node", of_the_node), _rule("a/stack", of_the_stack), _rule("a/lacks", of_a_pod_that_is_lacking)]
    panel = Panel(rules)
    ASKED.clear()
    told = [panel.told(Facts(known, Subject(stage=Stage.NODE, node=n, pod=Pod()), common)) for n in known.nodes]
    assert ASKED == ["gpu-1", "stack", "gpu-2", "gpu-3"]
    assert [[getattr(outcome, "about", "") for _, outcome in each] for each in told] == [
        ["gpu-1", ""],
        ["gpu-2", ""],
        ["gpu-3", ""],
    ]
    assert [[rule.id for rule, _ in each] for each in told] == [["a/node", "a/lacks"]] * 3


def test_a_sick_node_between_well_ones_is_seen_and_only_it() -> None:
    facts: dict[str, Any] = {
        "nodes": {**FACTS["nodes"], "gpu-2b": {"status": {"allocatable": {"nvidia.com/gpu": "0"}}}}
    }
    found = diagnose(snapshot(facts), Target(CLUSTER, ""), all_rules()).findings
    assert {name for f in found for name in f.affects if name.startswith("gpu")} == {"gpu-2b"}


def test_rules_and_views_take_what_they_need_by_position() -> None:
    assert all(len(rule.needs) == rule.check.__code__.co_argcount for rule in all_rules())


def test_what_is_said_does_not_hang_on_who_was_asked_about_before() -> None:
    """Rules are functions of their facts alone: asked each anew they say the same as one after the other."""
    none = {"status": {"allocatable": {"nvidia.com/gpu": "0"}}}
    fewer = {"status": {"allocatable": {"nvidia.com/gpu": "1"}}, "spec": {"unschedulable": True}}
    crashes = {"like": "plugin", "spec": {"nodeName": "gpu-2"}, "status": {"conditions": []}}
    facts: dict[str, Any] = {
        "operator": {"nodes": ["gpu-1", "gpu-2", "gpu-4"]},
        "nodes": {"gpu-#": {"times": 5}, "gpu-3b": none, "gpu-4b": fewer},
        "pods": {
            "gpu-operator/plugin-x": crashes,
            "ml/a": {"like": "running", "spec": {"nodeName": "gpu-4"}},
            "ml/b": {},
        },
        "files": {"gpu-5": {"dmesg": "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."}},
    }
    known = snapshot(facts)
    common = Common(known)
    about = scope(known, Target(CLUSTER, ""), common).about
    for stage in Stage:
        panel = Panel(r for r in all_rules() if stage in r.stages)
        for subject in (s for s in (*about, *reversed(about)) if s.stage is stage):
            anew = [(r, outcome(r, Facts(known, subject))) for r in panel.rules]
            assert panel.told(Facts(known, subject, common)) == [(r, o) for r, o in anew if o is not None]
