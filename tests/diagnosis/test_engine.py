"""The engine: missing facts, muted followers, order, targets, and that it never fails on what it is given."""

import copy
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.rule import Failed, Passed, Rule, Skipped, needs_of
from lockgate.diagnosis.stage import Stage, stage_of
from lockgate.diagnosis.target import Target, TargetError, TargetMissingError, parse_target
from lockgate.model.codec import UnknownVersionError, load_snapshot
from lockgate.model.facts import SECTIONS, Missing, Nodes, Pods, Snapshot
from lockgate.model.finding import Diagnosis, Severity, Verdict
from lockgate.model.objects import Pod
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = all_rules()
X = Target("Pod", "x", "default")


def _rule(id: str, check: Any, **more: Any) -> Rule:
    given = {"severity": Severity.ERROR, "gpu": True, "fallback": False, "aside": False, "mutes": ()} | more
    return Rule(
        id=id,
        title=id,
        codes=(),
        stages=tuple(Stage),
        asks_gpu=None,
        needs=needs_of(check),
        check=check,
        page="",
        **given,
    )


def _fails(pod: Pod) -> Failed:
    return Failed(about="x", summary="broken")


def _passes(pod: Pod) -> Failed:
    return Failed(about="node/gpu-a", summary="goes on", nodes=("gpu-a",), passing=True)


def _one_pod(**sections: Any) -> Snapshot:
    return msgspec.structs.replace(snapshot({"pods": {"default/x": {}}}), **sections)


def test_a_rule_whose_section_is_missing_is_not_called_and_said_to_be_open() -> None:
    def needs_nodes(nodes: Nodes) -> Failed:
        raise AssertionError("called")

    missing = Missing("nodes may not be listed", "RBAC: list on nodes")
    diagnosis = diagnose(_one_pod(nodes=missing), X, [_rule("a/b", needs_nodes)])
    assert [(n.id, n.how) for n in diagnosis.not_checked] == [("a/b", "RBAC: list on nodes")]
    assert "nodes may not be listed" in diagnosis.not_checked[0].reason
    assert (diagnosis.verdict, diagnosis.exit_code) == (Verdict.UNKNOWN, 4)


def test_a_rule_that_admits_missing_decides_with_less() -> None:
    def with_less(pods: Pods, nodes: Nodes | Missing) -> Passed:
        return Passed("less" if isinstance(nodes, Missing) else "more")

    diagnosis = diagnose(_one_pod(nodes=Missing("no")), X, [_rule("a/b", with_less)])
    assert [r.reason for r in diagnosis.ruled_out] == ["less"]


def test_a_view_is_missing_when_what_it_needs_is() -> None:
    diagnosis = diagnose(_one_pod(nodes=Missing("no nodes")), X, RULES)
    assert "scheduling/all-held" in {n.id for n in diagnosis.not_checked}


def test_an_open_question_that_does_not_decide_leaves_the_verdict_alone() -> None:
    healthy = snapshot(
        {"nodes": {"gpu-a": {}}, "pods": {"default/x": {"like": "running", "spec": {"nodeName": "gpu-a"}}}}
    )

    def aside(pod: Pod) -> Skipped:
        return Skipped("no log", decides=False)

    diagnosis = diagnose(healthy, X, [_rule("a/b", aside)])
    assert (diagnosis.verdict, diagnosis.exit_code, len(diagnosis.not_checked)) == (Verdict.HEALTHY, 0, 1)


def test_followers_come_under_their_cause_and_chains_stay_chains() -> None:
    rules = [
        _rule("a/last", _fails, severity=Severity.BLOCKER),
        _rule("b/middle", _fails, mutes=("a/last",)),
        _rule("c/first", _fails, mutes=("b/middle", "a/last")),
        _rule("d/other", _fails, severity=Severity.WARNING),
    ]
    found = diagnose(_one_pod(), X, rules).findings
    assert [(f.id, f.follows) for f in found] == [
        ("c/first", ""),
        ("b/middle", "c/first"),
        ("a/last", "b/middle"),
        ("d/other", ""),
    ]


def test_a_fault_spares_what_does_not_follow_from_it() -> None:
    def spares(pod: Pod) -> Failed:
        return msgspec.structs.replace(_fails(pod), spares=("a/last",))

    rules = [_rule("a/last", _fails), _rule("b/other", _fails), _rule("c/first", spares, mutes=("a/last", "b/other"))]
    found = {f.id: f.follows for f in diagnose(_one_pod(), X, rules).findings}
    assert found == {"a/last": "", "b/other": "c/first", "c/first": ""}


def test_what_follows_from_something_that_passes_is_no_worse_than_it_and_what_stands_beside_is() -> None:
    def waits(pod: Pod) -> Failed:
        return Failed(about="node/gpu-a", summary="waits", nodes=("gpu-a",))

    def elsewhere(pod: Pod) -> Failed:
        return Failed(about="node/gpu-b", summary="waits", nodes=("gpu-b",), severity=Severity.BLOCKER)

    starts = _rule("a/starts", _passes, severity=Severity.WARNING, mutes=("b/waits",))
    rules = [starts, _rule("b/waits", waits, mutes=("c/late",)), _rule("c/late", waits)]
    softened = diagnose(_one_pod(), X, rules)
    assert [(f.id, f.follows, f.severity.value) for f in softened.findings] == [
        ("a/starts", "", "warning"),
        ("b/waits", "a/starts", "warning"),
        ("c/late", "b/waits", "warning"),
    ]
    assert softened.exit_code == 4
    beside = diagnose(_one_pod(), X, [*rules, _rule("d/other", elsewhere)])
    assert next((f.id, f.severity.value) for f in beside.findings) == ("d/other", "blocker")


def test_a_rule_tells_what_passes_though_it_is_worse_where_it_lasts() -> None:
    def waits(pod: Pod) -> Failed:
        return Failed(about="node/gpu-a", summary="waits", nodes=("gpu-a",))

    upgrade = _rule("a/upgrade", _passes, severity=Severity.WARNING, mutes=("b/waits",))
    found = diagnose(_one_pod(), X, [upgrade, _rule("b/waits", waits, severity=Severity.BLOCKER)]).findings
    assert [(f.id, f.severity.value) for f in found] == [("a/upgrade", "warning"), ("b/waits", "warning")]


def test_what_passes_softens_no_further_than_to_what_it_follows_from() -> None:
    def waits(pod: Pod) -> Failed:
        return Failed(about="node/gpu-a", summary="waits", nodes=("gpu-a",))

    lasts = _rule("a/lasts", waits, mutes=("b/starts",))
    starts = _rule("b/starts", _passes, severity=Severity.WARNING, mutes=("c/waits",))
    late = _rule("c/waits", waits, severity=Severity.BLOCKER)
    found = diagnose(_one_pod(), X, [lasts, starts, late]).findings
    assert [(f.id, f.severity.value) for f in found] == [
        ("a/lasts", "error"),
        ("b/starts", "warning"),
        ("c/waits", "error"),
    ]


def test_rules_that_mute_each_other_lose_no_finding() -> None:
    rules = [_rule("a/a", _fails, mutes=("b/b",)), _rule("b/b", _fails, mutes=("a/a",))]
    assert {f.id for f in diagnose(_one_pod(), X, rules).findings} == {"a/a", "b/b"}


def test_a_fallback_speaks_only_when_nothing_else_failed() -> None:
    fallback = _rule("z/z", _fails, fallback=True)
    assert [f.id for f in diagnose(_one_pod(), X, [fallback]).findings] == ["z/z"]
    assert [f.id for f in diagnose(_one_pod(), X, [fallback, _rule("a/a", _fails)]).findings] == ["a/a"]


def test_what_is_said_aside_stands_beneath_the_rest_and_silences_nothing() -> None:
    aside, fallback = _rule("a/a", _fails, severity=Severity.INFO, aside=True), _rule("z/z", _fails, fallback=True)
    beneath_fallback = diagnose(_one_pod(), X, [aside, fallback]).findings
    assert [(f.id, f.follows) for f in beneath_fallback] == [("z/z", ""), ("a/a", "z/z")]
    cause = _rule("m/m", _fails, severity=Severity.BLOCKER)
    assert [(f.id, f.follows) for f in diagnose(_one_pod(), X, [aside, fallback, cause]).findings] == [
        ("m/m", ""),
        ("a/a", "m/m"),
    ]
    alone = diagnose(_one_pod(), X, [aside])
    assert (alone.verdict, [f.follows for f in alone.findings]) == (Verdict.WAITING, [""])


@pytest.mark.parametrize(
    ("gpu", "severity", "verdict", "code"),
    [
        (True, Severity.BLOCKER, Verdict.BROKEN, 3),
        (False, Severity.ERROR, Verdict.NOT_GPU, 3),
        (None, Severity.ERROR, Verdict.UNKNOWN, 3),
        (True, Severity.WARNING, Verdict.WARNING, 4),
    ],
)
def test_the_verdict_and_the_exit_code_follow_the_worst_finding(
    gpu: bool | None, severity: Severity, verdict: Verdict, code: int
) -> None:
    diagnosis = diagnose(_one_pod(), X, [_rule("a/a", _fails, gpu=gpu, severity=severity)])
    assert (diagnosis.verdict, diagnosis.exit_code) == (verdict, code)


def test_a_fault_that_is_none_of_gpus_hides_no_gpu_fault_beside_it() -> None:
    other = _rule("a/a", _fails, gpu=False, severity=Severity.BLOCKER)
    beside = diagnose(_one_pod(), X, [other, _rule("b/b", _fails, severity=Severity.ERROR)])
    assert (beside.findings[0].id, beside.verdict) == ("a/a", Verdict.BROKEN)
    assert "no GPU fault, and there is one beside it" in beside.headline
    muting = msgspec.structs.replace(other, mutes=("b/b",))
    follower = diagnose(_one_pod(), X, [muting, _rule("b/b", _fails, severity=Severity.ERROR)])
    assert follower.findings[1].follows == "a/a"
    between = _rule("c/c", _fails, gpu=False, severity=Severity.ERROR, mutes=("b/b",))
    muting = msgspec.structs.replace(other, mutes=("c/c",))
    far = diagnose(_one_pod(), X, [muting, between, _rule("b/b", _fails, severity=Severity.INFO)])
    assert [(f.id, f.follows) for f in far.findings] == [("a/a", ""), ("c/c", "a/a"), ("b/b", "c/c")]
    assert far.verdict is Verdict.NOT_GPU
    alone = diagnose(_one_pod(), X, [other, _rule("b/b", _fails, severity=Severity.WARNING)])
    assert alone.verdict is Verdict.NOT_GPU


def test_many_pods_with_one_fault_are_one_finding() -> None:
    owned = {"metadata": {"ownerReferences": [{"kind": "ReplicaSet", "name": "d-1"}]}}
    facts = {
        "nodes": {"gpu-a": {"spec": {"unschedulable": True}}},
        "deployments": {"default/d": {"spec": {"replicas": 3}}},
        "replica_sets": {"default/d-1": {"metadata": {"ownerReferences": [{"kind": "Deployment", "name": "d"}]}}},
        "pods": {f"default/d-1-{i}": copy.deepcopy(owned) for i in range(3)},
    }
    diagnosis = diagnose(snapshot(facts), Target("Deployment", "d", "default"), RULES)
    assert [f.id for f in diagnosis.findings] == ["scheduling/cordoned"]
    assert set(diagnosis.findings[0].affects) == {"d-1-0", "d-1-1", "d-1-2"}


# --- targets


@pytest.mark.parametrize(
    ("typed", "target"),
    [
        ("x", Target("Pod", "x", "")),
        ("pod/x", Target("Pod", "x", "")),
        ("deploy/x", Target("Deployment", "x", "")),
        ("STS/x", Target("StatefulSet", "x", "")),
        ("ml/job/x", Target("Job", "x", "ml")),
    ],
)
def test_targets_are_read_as_kubectl_reads_them(typed: str, target: Target) -> None:
    assert parse_target(typed) == target


@pytest.mark.parametrize(
    ("typed", "says"), [("deplyo/x", 'did you mean "deploy"'), ("a/b/c/d", "is no target"), ("pod/", "is no target")]
)
def test_a_mistyped_target_says_what_would_do(typed: str, says: str) -> None:
    with pytest.raises(TargetError, match=says):
        parse_target(typed)


def test_a_mistyped_name_gets_near_names() -> None:
    facts = snapshot({"pods": {"default/train-1": {}, "ml/other": {}}})
    with pytest.raises(TargetMissingError, match=r"did you mean train-1\?"):
        diagnose(facts, Target("Pod", "trian-1", "default"), RULES)
    with pytest.raises(TargetMissingError, match="exists in namespace ml"):
        diagnose(facts, Target("Pod", "other", "default"), RULES)


def test_a_name_in_two_namespaces_has_to_be_chosen() -> None:
    with pytest.raises(TargetMissingError, match=r"several namespaces \(a, b\)"):
        diagnose(snapshot({"pods": {"a/x": {}, "b/x": {}}}), Target("Pod", "x"), RULES)


# --- whatever comes


def test_facts_of_a_newer_version_are_refused() -> None:
    with pytest.raises(UnknownVersionError):
        load_snapshot(b'{"factsVersion": 99, "snapshot": {}}')


def test_a_dump_without_a_section_that_was_added_later_still_loads() -> None:
    loaded = load_snapshot(b'{"factsVersion": 1, "snapshot": {"nodes": []}}')
    assert (loaded.nodes, loaded.node_states) == ((), Missing("not collected"))


_WORLD = {
    "nodes": {"gpu-a": {}, "gpu-b": {"status": {"allocatable": {"nvidia.com/gpu": "0"}}}},
    "pods": {
        "default/x": {},
        "default/y": {"like": "running", "spec": {"nodeName": "gpu-a"}},
        "default/c": {"like": "creating", "spec": {"runtimeClassName": "nvidia"}},
        "default/r": {"like": "refused"},
        "default/f": {"like": "failed"},
        "gpu-operator/p": {"like": "plugin", "spec": {"nodeName": "gpu-a"}},
    },
    "deployments": {"default/d": {}},
    "jobs": {"default/j": {}},
    "runtime_classes": {"nvidia": {}},
    "node_states": {"gpu-a": {"status": {"runtime": {"handlers": [{"name": "runc"}]}}}},
    "files": {"gpu-a": {"/etc/containerd/config.toml": "version = 2\n", "/etc/cdi/a.yaml": "kind: ["}},
    "said": [{"about": "pod/default/c", "reason": "Failed", "message": "unresolvable CDI devices a/b=c"}],
    "logs": {"default/f/main": "CUDA driver\n"},
}


def _thinned(value: Any, chance: float, dice: random.Random) -> Any:
    """The same with some of its keys and items gone: a redacted, cut or hand-filled object."""
    if isinstance(value, dict):
        return {k: _thinned(v, chance, dice) for k, v in value.items() if dice.random() > chance}
    if isinstance(value, list | tuple):  # sections are tuples
        return [_thinned(v, chance, dice) for v in value if dice.random() > chance]
    return value


@given(
    missing=st.sets(st.sampled_from(SECTIONS)),
    chance=st.floats(0, 0.6),
    seed=st.integers(0, 2**32),
    target=st.sampled_from(["x", "y", "c", "r", "f", "deploy/d", "job/j", "ds/nvidia-device-plugin-daemonset"]),
)
@settings(max_examples=300, deadline=None)
def test_it_never_fails_on_partial_facts_and_answers_the_same_twice(
    missing: set[str], chance: float, seed: int, target: str
) -> None:
    whole = msgspec.to_builtins(snapshot(_WORLD))
    dice = random.Random(seed)
    thinned = {name: _thinned(section, chance, dice) for name, section in whole.items() if name in SECTIONS}
    for name in ("node_files", "logs", "readings"):  # made by collectors, so never without their own fields
        thinned[name] = whole[name]
    thinned |= {name: {"reason": "may not be read", "how": ""} for name in missing}
    facts = msgspec.convert(thinned, Snapshot)
    try:
        diagnosis = diagnose(facts, parse_target(target), RULES)
    except TargetMissingError:
        return
    assert diagnosis == diagnose(facts, parse_target(target), RULES)
    assert msgspec.json.decode(msgspec.json.encode(diagnosis), type=Diagnosis) == diagnosis


def test_a_pod_that_is_being_deleted_is_no_fault() -> None:
    pod = msgspec.convert(
        {"metadata": {"deletionTimestamp": "2026-11-29T12:00:00Z"}, "status": {"phase": "Running"}}, Pod
    )
    assert stage_of(pod) is Stage.TERMINATING


def test_a_cause_on_hundreds_of_nodes_shows_a_few_and_counts_the_rest() -> None:
    facts = snapshot(
        {"nodes": {f"gpu-{i:03}": {"spec": {"unschedulable": True}} for i in range(300)}, "pods": {"default/x": {}}}
    )
    finding = diagnose(facts, X, RULES).findings[0]
    assert finding.id == "scheduling/cordoned"
    assert len(finding.evidence) < 15
    assert finding.evidence[-1].value == "290"
