"""What was not read is never called fine: it decides where nobody knows whether all is well, else it is told."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.rule import Need, needs_of
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.subject import sections_read
from lockgate.diagnosis.target import UnreadTargetError, parse_target
from lockgate.diagnosis.unread import TELLS
from lockgate.diagnosis.views import VIEWS
from lockgate.model.facts import SECTIONS, Missing, Snapshot
from lockgate.model.finding import Diagnosis, Verdict
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = tuple(all_rules())
ON_A = {"like": "running", "spec": {"nodeName": "gpu-a"}}
NOT_READY = {"conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "False"}]}
WORLD: dict[str, Any] = {
    "nodes": {"gpu-a": {}},
    "pods": {
        "default/well": ON_A,
        "default/late": {},
        "default/sick": {**ON_A, "status": NOT_READY},
        "default/new": {"like": "creating"},
        "default/died": {"like": "failed"},
        "gpu-operator/p": {"like": "plugin", "spec": {"nodeName": "gpu-a"}},
    },
    "runtime_classes": {"nvidia": {}},
}
ONE = {"resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}}
NO_IMAGE = 'Failed to pull image "app:1": rpc error: code = NotFound desc = app:1: not found'
WELL = WORLD | {"pods": {name: WORLD["pods"][name] for name in ("default/well", "gpu-operator/p")}}


def _without(facts: Snapshot, *sections: str, **more: Any) -> Snapshot:
    lacking = {s: Missing("may not be read", f"RBAC: list on {s}", refused=True) for s in sections}
    return msgspec.structs.replace(facts, **lacking, **more)


def _ask(world: dict[str, Any], target: str, *sections: str) -> Diagnosis:
    return diagnose(_without(snapshot(world), *sections), parse_target(target, "default"), RULES)


# What is asked, what may not be read -> verdict, exit code, what is open ("!": it decides). The table of decision 0050.
@pytest.mark.parametrize(
    ("world", "target", "sections", "verdict", "code", "open_"),
    [
        (WELL, "pod/well", (), "healthy", 0, set()),
        (WELL, "pod/well", ("nodes", "events"), "healthy", 0, {"nodes", "events"}),
        (WELL, "pod/well", ("logs",), "healthy", 0, {"logs"}),
        (WELL, "pod/well", ("node_states", "node_files"), "healthy", 0, {"node-files"}),
        (WELL, "pod/well", ("pods", "daemon_sets", "namespaces", "device_classes"), "healthy", 0, set()),
        (WORLD, "pod/late", ("pods",), "unknown", 4, {"!pods"}),
        (WORLD, "pod/sick", (), "warning", 4, set()),
        (WORLD, "pod/sick", ("logs",), "unknown", 4, {"!logs"}),
        (WORLD, "pod/sick", ("events",), "unknown", 4, {"!events"}),
        (WORLD, "pod/new", (), "waiting", 4, set()),
        (WORLD, "pod/new", ("logs",), "waiting", 4, set()),  # it has not run, so it has none
        (WORLD, "pod/new", ("runtime_classes",), "waiting", 4, set()),  # it names none
        (WORLD, "pod/died", ("logs",), "unknown", 3, {"!logs"}),
        (WELL, "node/gpu-a", (), "healthy", 0, {"node-files"}),
        (WELL, "node/gpu-a", ("logs", "events"), "healthy", 0, {"node-files", "logs", "events"}),
        (WELL, "node/gpu-a", ("pods",), "healthy", 0, {"node-files", "pods"}),  # its operands are known
        (WELL, "node/gpu-a", ("pods", "namespace_pods"), "unknown", 4, {"node-files", "!pods"}),
        (WELL, "", ("logs",), "healthy", 0, {"node-files", "logs"}),
        (WELL, "", ("pods",), "unknown", 4, {"node-files", "!pods"}),
    ],
)
def test_what_may_not_be_read(
    world: dict[str, Any], target: str, sections: tuple[str, ...], verdict: str, code: int, open_: set[str]
) -> None:
    answer = _ask(world, target, *sections)
    assert (answer.verdict.value, answer.exit_code) == (verdict, code)
    sections_open = {f"{'!' if n.decides else ''}{n.id}" for n in answer.not_checked if n.rules}
    assert sections_open == open_


def test_a_pod_that_waits_is_not_judged_without_nodes() -> None:
    answer = _ask(WORLD, "pod/late", "nodes")
    assert (answer.verdict, answer.exit_code) == (Verdict.UNKNOWN, 4)
    assert {n.how for n in answer.not_checked} == {"RBAC: list on nodes"}


def test_without_nodes_the_pods_of_the_cluster_are_still_judged() -> None:
    waits = {"name": "main", "state": {"waiting": {"reason": "ErrImagePull", "message": NO_IMAGE}}}
    facts = WORLD | {"pods": {"default/x": {"like": "creating", "status": {"containerStatuses": [waits]}}}}
    answer = _ask(facts, "", "nodes")
    assert [f.id for f in answer.findings] == ["pod/image"]
    assert "RBAC: list on nodes" in {n.how for n in answer.not_checked if n.decides}
    assert "no node" in _ask(WELL, "", "nodes").headline
    with pytest.raises(UnreadTargetError, match="RBAC: list on nodes"):
        _ask(WELL, "", "nodes", "pods")


@pytest.mark.parametrize("target", ["", "namespace/default"])
def test_workloads_that_were_not_read_may_hide_one_without_pods(target: str) -> None:
    answer = _ask(WELL, target, "deployments", "jobs")
    assert (answer.verdict, answer.exit_code) == (Verdict.UNKNOWN, 4)
    lacking = next(n for n in answer.not_checked if n.id == "workloads")
    assert lacking.reason.endswith("deployments, jobs were not read")
    assert lacking.how == "RBAC: list on deployments; RBAC: list on jobs"


def test_one_line_a_section_names_the_rules_that_would_have_looked_there() -> None:
    answer = _ask(WELL, "pod/well", "logs")
    assert [n.id for n in answer.not_checked] == ["logs"]
    assert "gpu-use/no-devices-found" in answer.not_checked[0].rules
    assert not any(rule.startswith("driver/") for rule in answer.not_checked[0].rules)  # no operand's pod
    assert answer.headline.endswith("Nothing wrong is seen in what was read.")


def test_what_a_named_cause_leaves_unread_is_not_told() -> None:
    assert _ask(WORLD, "pod/late", "resource_claims", "logs").not_checked == ()


def test_a_warning_leaves_open_what_may_be_worse() -> None:
    container = {"name": "main", "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}
    sees_all = {**ON_A, "spec": {"nodeName": "gpu-a", "containers": [container | ONE]}}
    answer = _ask(WELL | {"pods": WELL["pods"] | {"default/x": sees_all}}, "pod/x", "events")
    assert ([f.id for f in answer.findings], answer.verdict) == (["gpu-use/sees-too-many"], Verdict.WARNING)
    assert [n.id for n in answer.not_checked] == ["events"]


def test_a_file_lacks_with_the_command_that_reads_it() -> None:
    lacking = {"logs": Missing("no logs/", "kubectl logs"), "node_files": Missing("no nodes/<node>/", "copy it")}
    facts = msgspec.structs.replace(snapshot(WORLD), **lacking)
    hows = {n.id: n.how for n in diagnose(facts, parse_target("pod/sick", "default"), RULES).not_checked}
    assert hows["logs"] == "kubectl logs -n default sick --all-containers --tail=200"
    assert hows["node-files"] == "kubectl gpu collect -o bundle.tgz --probe gpu-a"


CRASHES = {
    "phase": "Running",
    "conditions": [{"type": "Ready", "status": "False"}],
    "containerStatuses": [
        {
            "name": "main",
            "restartCount": 3,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": {"terminated": {"reason": "Error", "exitCode": 1}},
        }
    ],
}


@pytest.mark.parametrize("target", ["pod/x", "namespace/default", ""])
def test_of_a_container_that_crashes_the_log_before_is_asked_for_once(target: str) -> None:
    crash = WELL | {"pods": WELL["pods"] | {"default/x": {**ON_A, "status": CRASHES}}}
    facts = msgspec.structs.replace(snapshot(crash), logs=Missing("no logs/", "kubectl logs"))
    answer = diagnose(facts, parse_target(target, "default"), RULES)
    deciding = {n.how for n in answer.not_checked if n.decides}
    assert deciding <= {"kubectl logs -n default x -c main --previous --tail=200", "kubectl gpu collect -o bundle.tgz"}
    assert deciding
    assert (answer.verdict.value, answer.exit_code) == ("unknown", 3)  # why is not known, that it fails is


def test_what_is_not_known_of_a_node_is_one_gap_with_one_command() -> None:
    handler = {"like": "creating", "spec": {"runtimeClassName": "nvidia"}}
    facts = _without(snapshot(WORLD | {"pods": {"default/new": handler}}), "events")
    answer = diagnose(facts, parse_target("pod/new", "default"), RULES)
    of_node = [n for n in answer.not_checked if "probe" in n.how]
    assert {(n.how, n.decides) for n in of_node} == {("kubectl gpu collect -o bundle.tgz --probe gpu-a", True)}
    assert len({n.reason for n in of_node}) == 1
    assert "containerd/handler-missing" in {n.id for n in of_node}


def test_a_node_that_something_tells_of_is_read() -> None:
    told = snapshot(WELL | {"node_states": {"gpu-a": {"status": {"runtime": {"handlers": [{"name": "nvidia"}]}}}}})
    facts = _without(told, "node_files")
    assert "node-files" not in {n.id for n in diagnose(facts, parse_target("node/gpu-a"), RULES).not_checked}


def test_many_nodes_that_nothing_was_read_from_are_one_line() -> None:
    many = {"nodes": {f"gpu-{i}": {} for i in range(3)}, "operator": {"nodes": [f"gpu-{i}" for i in range(3)]}}
    answer = diagnose(snapshot(many), parse_target(""), RULES)
    assert [n.how for n in answer.not_checked if n.id == "node-files"] == [
        "kubectl gpu collect -o bundle.tgz --probe all"
    ]


def test_what_the_cluster_does_not_serve_is_not_there() -> None:
    unserved = Missing("the cluster does not know clusterpolicies", "install what defines it", unserved=True)
    facts = msgspec.structs.replace(snapshot(WELL), cluster_policies=unserved, nvidia_drivers=unserved)
    answer = diagnose(facts, parse_target(""), RULES)
    assert (answer.verdict, answer.exit_code) == (Verdict.HEALTHY, 0)
    assert {n.id for n in answer.not_checked} == {"node-files"}


# --- that the table of stages is whole

# Read at a stage and left unsaid: who else is concerned, and what only fills in a finding that is made without it.
_WHO_ELSE = {"namespace_pods", "daemon_sets", "device_classes", "namespaces", "readings", "cluster_policies"}
_BESIDE: dict[Stage, set[str]] = {
    # The refusal itself stands in an event; Kueue's and the gang schedulers' rules say themselves what they lack, and
    # so does that of a DaemonSet without nodes.
    Stage.NO_POD: {
        *("limit_ranges", "priority_classes", "resource_quotas", "namespaces", "namespace_pods"),
        *("pod_groups", "queued_workloads", "daemon_sets", "nodes"),
    },
    # Gate 1 is judged from nodes and pods; why a node lacks its devices is asked of the node (diagnosis.beneath).
    Stage.SCHEDULING: {
        *_WHO_ELSE,
        *("logs", "node_files", "node_states", "nodes", "node_claims", "resource_slices", "pod_groups"),
        *("queued_workloads", "config_maps", "nvidia_drivers"),
    },
    # The kubelet's own word is in the pod's status.
    Stage.ADMISSION: {*_WHO_ELSE, "logs", "node_files", "node_states", "nodes", "pods", "resource_slices"},
    Stage.CREATING: {*_WHO_ELSE, "pods"},
    # What a variable that was set by hand gives is asked of the node's runtime; a finding says where that is not known.
    Stage.RUNNING: {*_WHO_ELSE, "pods", "runtime_classes"},
    Stage.FAILED: {*_WHO_ELSE, "pods", "runtime_classes"},
    Stage.SUCCEEDED: {*_WHO_ELSE, "pods", "runtime_classes", "events", "nodes", "node_files", "node_states"},
    Stage.TERMINATING: {*_WHO_ELSE, "pods"},
    # The rule that reads the plugin's ConfigMap says itself that it lacks it, where a policy names one.
    # What the operator says is asked of the cluster.
    Stage.NODE: {*_WHO_ELSE, "nodes", "node_claims", "resource_slices", "config_maps", "nvidia_drivers"},
    # Its pods that are not well, and their nodes, are asked themselves.
    Stage.OPERAND: {*_WHO_ELSE, "node_files", "node_states", "nodes", "priority_classes"},
    # What an autoscaler said of a pod is asked of that pod.
    Stage.CLUSTER: {*_WHO_ELSE, "nodes", "resource_quotas", "events", "config_maps", "node_files"},
}


def _optional(needs: tuple[Need, ...]) -> Iterator[str]:
    """The sections that a rule may do without, itself or through its views."""
    for need in needs:
        if need.optional or need.name in SECTIONS:
            yield from sections_read((need,)) if need.optional else ()
        elif need.name in VIEWS:
            yield from _optional(needs_of(VIEWS[need.name]))


def _pairs() -> set[tuple[Stage, str]]:
    return {(stage, section) for rule in RULES for stage in rule.stages for section in _optional(rule.needs)}


def test_each_section_that_a_rule_may_do_without_is_told_open_or_is_only_beside() -> None:
    unsaid = {(s.value, section) for s, section in _pairs() if section not in {*TELLS[s], *_BESIDE.get(s, ())}}
    assert unsaid == set()


def test_no_stage_calls_a_section_open_that_no_rule_reads_there() -> None:
    read = {(stage, section) for rule in RULES for stage in rule.stages for section in sections_read(rule.needs)}
    assert {(stage.value, s) for stage, told in TELLS.items() for s in told if (stage, s) not in read} == set()


# --- logs that were not read, of facts that hold others

RAN = {"containerStatuses": [{"name": "nvidia-device-plugin", "ready": True, "state": {"running": {}}}]}
OTHER = {"logs": {"default/other/main": "fine"}}


def _logs_open(world: dict[str, Any], target: str) -> list[tuple[str, str, bool]]:
    answer = diagnose(snapshot(world), parse_target(target, "default"), RULES)
    return [(n.reason, n.how, n.decides) for n in answer.not_checked if n.id == "logs"]


@pytest.mark.parametrize(("pod", "decides"), [("well", False), ("sick", True), ("died", True)])
def test_the_log_of_another_pod_is_not_that_of_the_pod(pod: str, decides: bool) -> None:
    open_ = _logs_open(WORLD | OTHER, f"pod/{pod}")
    how = f"kubectl logs -n default {pod} --all-containers --tail=200"
    assert open_ == [(f"the log of pod {pod} was not read", how, decides)]
    assert _logs_open(WORLD | {"logs": {f"default/{pod}/main": "nothing"}}, f"pod/{pod}") == []


def test_of_a_pod_that_is_not_well_the_container_is_named_whose_log_was_not_read() -> None:
    statuses = [
        {"name": "main", "ready": False, "state": {"terminated": {"exitCode": 1, "reason": "Error"}}},
        {"name": "side", "ready": True, "state": {"running": {}}},
    ]
    sick = {"like": "failed", "status": {"containerStatuses": statuses}}
    world = WORLD | {"pods": WORLD["pods"] | {"default/died": sick}, "logs": {"default/died/side": "fine"}}
    assert [reason for reason, _, _ in _logs_open(world, "pod/died")] == ["the log of its container main was not read"]


def test_of_a_node_the_logs_count_in_which_its_xids_are_told() -> None:
    world = WELL | {"pods": WELL["pods"] | {"gpu-operator/p": {**WELL["pods"]["gpu-operator/p"], "status": RAN}}}
    assert [(reason, decides) for reason, _, decides in _logs_open(world | OTHER, "node/gpu-a")] == [
        ("the log of its device-plugin was not read", False)
    ]
    assert _logs_open(world | {"logs": {"gpu-operator/p/nvidia-device-plugin": "registered"}}, "node/gpu-a") == []


def test_the_log_of_a_sick_operand_is_asked_for_by_its_pods_own_command() -> None:
    sick = {
        "like": "plugin",
        "spec": {"nodeName": "gpu-a"},
        "status": RAN | {"conditions": [{"type": "Ready", "status": "False"}]},
    }
    world = {"nodes": {"gpu-a": {}}, "pods": {"gpu-operator/p": sick}, "logs": {"other/pod/main": "fine"}}
    answer = diagnose(snapshot(world), parse_target("node/gpu-a", "default"), RULES)
    ways = {n.how for n in answer.not_checked if "driver/compiler" in (n.id, *n.rules)}
    assert ways == {"kubectl logs -n gpu-operator p --all-containers --tail=200"}
