"""Waivers: what somebody knows about stays visible and does not count, until its day is over."""

import datetime as dt
from typing import Any

import pytest
from msgspec import structs

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.diagnosis.waive import Waivers
from lockgate.model.finding import Diagnosis, Finding, Severity, TargetRef, Verdict
from lockgate.model.waiver import WaiverError, parse_waiver
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = all_rules()
TODAY = dt.date(2026, 11, 30)
SICK: dict[str, Any] = {"status": {"capacity": {"nvidia.com/gpu": "2"}, "allocatable": {"nvidia.com/gpu": "1"}}}
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def annotated(text: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"annotations": {"lockgate.dev/waive": text}}, **more}


def why(target: str, *lines: str, **facts: Any) -> Diagnosis:
    known = tuple(parse_waiver(line, "*", "lockgate.yaml 1") for line in lines)
    return diagnose(snapshot(facts), parse_target(target), RULES, Waivers(known, TODAY))


def ids(answer: Diagnosis) -> tuple[list[str], list[str]]:
    return [f.id for f in answer.findings], [w.finding.id for w in answer.waived]


@pytest.mark.parametrize("where", ["", " at node/gpu-a", " at gpu-?", " at node/*"])
def test_a_waived_finding_is_told_and_does_not_count(where: str) -> None:
    answer = why("node/gpu-a", f"devices/unhealthy{where} until 2026-11-30 -- RMA 4711", nodes={"gpu-a": SICK})
    assert ids(answer) == ([], ["devices/unhealthy"])
    assert (answer.verdict, answer.exit_code, answer.next) == (Verdict.HEALTHY, 0, ())
    assert answer.headline.endswith("Nothing is wrong. Waived: devices/unhealthy.")
    (waived,) = answer.waived
    assert (waived.reason, waived.until, waived.source) == ("RMA 4711", TODAY, "lockgate.yaml 1")
    assert "devices/unhealthy" not in {r.id for r in answer.ruled_out}


@pytest.mark.parametrize("line", ["devices/unhealthy at node/gpu-b -- x", "devices/gone -- x"])
def test_a_waiver_of_something_else_waives_nothing(line: str) -> None:
    assert ids(why("node/gpu-a", line, nodes={"gpu-a": SICK})) == (["devices/unhealthy"], [])


def test_an_expired_waiver_is_said_and_the_finding_counts_again() -> None:
    answer = why("node/gpu-a", "devices/unhealthy until 2026-11-29 -- RMA 4711", nodes={"gpu-a": SICK})
    assert ids(answer) == (["devices/unhealthy"], [])
    (void,) = answer.void_waivers
    assert (void.problem, void.source) == ("expired on 2026-11-29", "lockgate.yaml 1")
    assert "RMA 4711" in void.text


def test_an_annotation_with_an_id_that_no_rule_has_is_said() -> None:
    answer = why("node/gpu-a", nodes={"gpu-a": SICK | annotated("devices/unhealty -- RMA 4711\ndevices/* -- all")})
    assert ids(answer) == ([], ["devices/unhealthy"])
    (void,) = answer.void_waivers
    assert void.source == "annotation of node/gpu-a"
    assert void.problem.startswith("no finding has this id; did you mean devices/unhealthy")


def test_an_expired_waiver_of_nothing_that_is_there_is_not_said() -> None:
    assert why("node/gpu-a", "devices/unhealthy until 2026-11-29 -- x", nodes={"gpu-a": READY}).void_waivers == ()


def test_a_fault_of_two_nodes_is_waived_only_when_each_of_them_is() -> None:
    nodes = {"gpu-a": SICK, "gpu-b": SICK}
    one = "devices/unhealthy at node/gpu-a -- x"
    both = (one, "devices/unhealthy at node/gpu-b -- y")
    assert ids(why("", one, nodes=nodes)) == (["devices/unhealthy"], [])
    assert ids(why("", *both, nodes=nodes)) == ([], ["devices/unhealthy"])


def test_a_waiver_of_a_node_holds_for_the_pods_that_its_fault_strikes() -> None:
    strikes = Finding(
        id="xid/off-the-bus",
        codes=(),
        title="",
        severity=Severity.BLOCKER,
        about="node/gpu-a",
        summary="",
        affects=("gpu-a", "default/pair"),
    )
    both = structs.replace(strikes, affects=("gpu-a", "gpu-b", "default/pair"))
    waivers = Waivers((parse_waiver("xid/off-the-bus at node/gpu-a -- x", "*", "lockgate.yaml 1"),), TODAY)
    cluster = TargetRef("Cluster", "", "")
    assert waivers.apart((strikes,), cluster)[0] == ()
    assert waivers.apart((both,), cluster)[0] == (both,)


def test_what_follows_from_a_waived_cause_is_waived_with_it() -> None:
    plugin = {"like": "plugin", "spec": {"nodeName": "gpu-a"}, "status": {"phase": "Pending"}}
    facts: dict[str, Any] = {
        "nodes": {
            "gpu-a": {"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]}}
        },
        "pods": {"gpu-operator/p": plugin},
    }
    plain = why("", **facts)
    root = next(f for f in plain.findings if not f.follows)
    followers = [f.id for f in plain.findings if f.follows == root.id]
    answer = why("", f"{root.id} -- known", **facts)
    assert {root.id, *followers} <= set(ids(answer)[1])
    assert not set(ids(answer)[0]) & {root.id, *followers}


def test_a_node_carries_its_own_waiver() -> None:
    line = "devices/unhealthy until 2026-12-31 -- RMA 4711\nnodes/not-ready -- often restarted"
    nodes = {"gpu-a": annotated(line, **SICK), "gpu-b": SICK}
    assert ids(why("node/gpu-a", nodes=nodes)) == ([], ["devices/unhealthy"])
    assert ids(why("node/gpu-b", nodes=nodes)) == (["devices/unhealthy"], [])
    assert why("node/gpu-a", nodes=nodes).waived[0].source == "annotation of node/gpu-a"


def test_a_namespace_waives_what_is_in_it() -> None:
    full: dict[str, Any] = {
        "nodes": {"gpu-a": READY},
        "pods": {
            "ml/a": {"like": "running", "spec": {"nodeName": "gpu-a"}},
            "ml/b": {"like": "running", "spec": {"nodeName": "gpu-a"}},
            "ml/late": {},
        },
    }
    answer = why("", namespaces={"ml": annotated("scheduling/* -- batch: it waits by design")}, **full)
    assert ids(answer) == ([], ["scheduling/all-held"])
    answer = why("", namespaces={"m": annotated("scheduling/* -- x")}, **full)
    assert ids(answer) == (["scheduling/all-held"], [])


@pytest.mark.parametrize("where", ["ml/late", "pod/ml/late", "ml/*"])
def test_a_pod_that_is_asked_about_is_a_place_of_whatever_strikes_it(where: str) -> None:
    held = {"like": "running", "spec": {"nodeName": "gpu-a"}}
    full: dict[str, Any] = {"pods": {"ml/a": held, "ml/b": held, "ml/late": {}}}
    answer = why("pod/late", f"scheduling/* at {where} -- it may wait", nodes={"gpu-a": {}}, **full)
    assert (ids(answer)[0], bool(ids(answer)[1])) == ([], True)
    assert ids(why("", f"scheduling/* at {where} -- it may wait", nodes={"gpu-a": READY}, **full))[0] == []


def test_an_annotation_that_cannot_be_read_is_said() -> None:
    answer = why("node/gpu-a", nodes={"gpu-a": annotated("devices/unhealthy", **SICK)})
    assert ids(answer) == (["devices/unhealthy"], [])
    (void,) = answer.void_waivers
    assert "has no reason" in void.problem
    assert void.source == "annotation of node/gpu-a"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("devices/unhealthy until tomorrow -- x", 'until "tomorrow" is no date: expected YYYY-MM-DD'),
        ("devices/unhealthy", "has no reason"),
        ("because I say so!", "is no waiver: expected ID"),
    ],
)
def test_what_is_no_waiver_says_what_one_is(text: str, says: str) -> None:
    with pytest.raises(WaiverError, match=says):
        parse_waiver(text, "*", "")
