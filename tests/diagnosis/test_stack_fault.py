"""Faults of the GPU stack over several nodes: one finding a cause, each node under its own, operands named once."""

from typing import Any

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.model.finding import Diagnosis, Verdict
from lockgate.rules import all_rules
from tests.rules.world import snapshot

CRASHING = {
    "conditions": [{"type": "Ready", "status": "False"}],
    "containerStatuses": [{"name": "nvidia-driver-ctr", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}],
}
CRASHED = CRASHING | {
    "containerStatuses": [{"name": "nvidia-driver-ctr", "restartCount": 3, "state": {"terminated": {"exitCode": 1}}}]
}
NO_GPU = {"status": {"capacity": {"nvidia.com/gpu": None}, "allocatable": {"nvidia.com/gpu": None}}}
NO_HEADERS = "Could not resolve Linux kernel version"
NO_KEY = "could not insert 'nvidia': Key was rejected by service"


def cluster(said: dict[str, str], **more: Any) -> Diagnosis:
    """The whole cluster's diagnosis, where the driver of each node crashes and says something."""
    facts = {
        "operator": {"nodes": [*said], "stuck": dict.fromkeys(said, "driver")},
        "nodes": dict.fromkeys(said, NO_GPU),
        "pods": {f"gpu-operator/nvidia-driver-daemonset-{node}": {"status": CRASHING} for node in said},
        "logs": {f"gpu-operator/nvidia-driver-daemonset-{n}/nvidia-driver-ctr": text for n, text in said.items()},
    }
    return diagnose(snapshot(facts | more), parse_target(""), all_rules())


def roots(diagnosis: Diagnosis) -> dict[str, tuple[str, ...]]:
    """The causes, and what each affects."""
    return {f.id: f.affects for f in diagnosis.findings if not f.follows}


def test_the_same_fault_of_two_nodes_is_one_cause_that_names_the_nodes_alone() -> None:
    found = cluster({"gpu-a": NO_HEADERS, "gpu-b": NO_HEADERS})
    assert roots(found) == {"driver/kernel-packages": ("gpu-a", "gpu-b")}


def test_two_nodes_with_faults_of_their_own_are_both_told() -> None:
    found = cluster({"gpu-a": NO_HEADERS, "gpu-b": NO_KEY})
    assert roots(found) == {"driver/kernel-packages": ("gpu-a",), "driver/unsigned-module": ("gpu-b",)}


def test_every_follower_stands_under_the_cause_of_its_node() -> None:
    found = cluster({"gpu-a": NO_HEADERS, "gpu-b": NO_KEY})
    crashes = {f.follows: f.affects for f in found.findings if f.id == "operands/crashes"}
    waits = [(f.follows, f.affects) for f in found.findings if f.id == "operands/init-waits"]
    assert crashes == {"driver/kernel-packages": ("gpu-a",), "driver/unsigned-module": ("gpu-b",)}
    assert waits == [("operands/crashes", ("gpu-a",)), ("operands/crashes", ("gpu-b",))]


def test_logs_that_were_not_read_leave_their_questions_open() -> None:
    found = cluster({"gpu-a": NO_HEADERS}, missing=["logs"])
    open_ = {n.id for n in found.not_checked if "may not be read" in n.reason}
    assert {"driver/kernel-packages", "driver/compiler", "operands/inotify"} <= open_


def test_logs_of_some_nodes_alone_leave_the_question_open_for_the_others() -> None:
    read = {"gpu-operator/nvidia-driver-daemonset-gpu-a/nvidia-driver-ctr": NO_HEADERS}
    pods = {f"gpu-operator/nvidia-driver-daemonset-{node}": {"status": CRASHED} for node in ("gpu-a", "gpu-b")}
    found = cluster({"gpu-a": NO_HEADERS, "gpu-b": NO_HEADERS}, logs=read, pods=pods)
    open_ = [n.how for n in found.not_checked if n.id == "driver/kernel-packages"]
    of_the_other = "kubectl logs -n gpu-operator nvidia-driver-daemonset-gpu-b --all-containers --tail=200"
    assert open_ == [of_the_other]


def test_no_rule_of_the_stack_is_open_where_all_operands_are_well() -> None:
    facts = {"operator": {"nodes": ["gpu-a"]}, "missing": ["logs"]}
    found = diagnose(snapshot(facts), parse_target(""), all_rules())
    unread = [n for n in found.not_checked if "may not be read" in n.reason]
    assert [(n.id, n.decides) for n in unread] == [("logs", False)]
    assert not {"driver/nouveau", "operands/fabric", "mig/glibc"}.intersection(unread[0].rules)
    assert (found.verdict, found.exit_code) == (Verdict.HEALTHY, 0)


def test_operands_that_crash_on_two_nodes_are_two_causes() -> None:
    crashing = [{"name": "main", "restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]
    status = {"conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": crashing}
    facts = {
        "operator": {"nodes": ["gpu-a", "gpu-b"], "stuck": {"gpu-a": "driver", "gpu-b": "container-toolkit"}},
        "nodes": {"gpu-a": NO_GPU, "gpu-b": NO_GPU},
        "pods": {
            "gpu-operator/nvidia-driver-daemonset-gpu-a": {"status": status},
            "gpu-operator/nvidia-container-toolkit-daemonset-gpu-b": {"status": status},
        },
    }
    found = diagnose(snapshot(facts), parse_target(""), all_rules())
    assert [(f.title, f.affects) for f in found.findings if not f.follows] == [
        ("The driver pod crashes; its log decides", ("gpu-a",)),
        ("The container-toolkit pod crashes; its log decides", ("gpu-b",)),
    ]
