"""What a node's pods, published state and GPUs amount to in a rollout."""

import datetime as dt
from typing import Any

import msgspec
import pytest

from lockgate.model.node_state import NodeStanding
from lockgate.model.objects import DaemonSet, Node, Pod
from lockgate.rollout.toolkit_node import Wanted, publishes, view
from lockgate.rollout.values import NodeView, Ref, Verdict

WANTED = Wanted(revision="new", publishes=True, hands_out=True)
LABELS = {"nvidia.com/gpu.deploy.device-plugin": "true", "nvidia.com/gpu.deploy.operator-validator": "true"}
NODE: dict[str, Any] = {
    "metadata": {"name": "gpu-a", "labels": LABELS},
    "status": {"allocatable": {"nvidia.com/gpu": "2"}, "conditions": [{"type": "Ready", "status": "True"}]},
}


def time(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}Z"


def at(second: int) -> dt.datetime:
    return dt.datetime(2026, 1, 1, 0, 0, second, tzinfo=dt.UTC)


def toolkit(name: str = "toolkit-1", revision: str = "new", started: int = 10, **status: Any) -> Pod:
    made = {"name": name, "uid": f"uid-{name}", "labels": {"controller-revision-hash": revision}}
    container = {"name": "ctr", "ready": True, "state": {"running": {"startedAt": time(started)}}}
    usual = {"conditions": [{"type": "Ready", "status": "True"}], "containerStatuses": [container]}
    metadata = {**made, "creationTimestamp": time(started - 2)}
    return msgspec.convert({"metadata": metadata, "status": {**usual, **status}}, Pod)


def validator(looked: int = 15, ready: bool = True, **status: Any) -> Pod:
    step = {"name": "toolkit-validation", "state": {"terminated": {"exitCode": 0, "startedAt": time(looked)}}}
    usual = {
        "conditions": [{"type": "Ready", "status": str(ready)}],
        "initContainerStatuses": [step],
        "phase": "Running",
    }
    metadata = {"name": "validator-1", "uid": "uid-v", "creationTimestamp": time(looked)}
    return msgspec.convert({"metadata": metadata, "status": {**usual, **status}}, Pod)


def state(phase: str = "Configured", pod: str = "toolkit-1", **rest: Any) -> NodeStanding:
    runtime = {"phase": phase, "message": "because", "pod": pod}
    return msgspec.convert({"metadata": {"name": "gpu-a"}, "status": {"runtime": runtime, **rest}}, NodeStanding)


def seen(
    *toolkits: Pod,
    node: dict[str, Any] = NODE,
    validators: tuple[Pod, ...] = (validator(),),
    published: NodeStanding | None = state(),  # noqa: B008  # a frozen value
    wanted: Wanted = WANTED,
) -> NodeView:
    return view(msgspec.convert(node, Node), toolkits or (toolkit(),), validators, published, wanted)


def verdicts(found: NodeView) -> dict[str, str]:
    return {verdict.stage: verdict.outcome for verdict in found.verdicts}


def verdict(found: NodeView, stage: str) -> Verdict:
    return next(one for one in found.verdicts if one.stage == stage)


def test_a_node_that_is_verified() -> None:
    found = seen()
    assert (found.name, found.place, found.stale, found.reachable) == ("gpu-a", "updated", False, True)
    assert found.pod == Ref(name="toolkit-1", uid="uid-toolkit-1")
    assert verdicts(found) == dict.fromkeys(("toolkit", "devices", "validation"), "passed")
    assert found.since == at(15), "when the newest of its pods was made"


def test_a_pod_of_another_revision_is_outdated_and_one_that_leaves_is_changing() -> None:
    assert seen(toolkit(revision="old")).place == "outdated"
    leaving = toolkit(revision="old")
    leaving = msgspec.structs.replace(
        leaving, metadata=msgspec.structs.replace(leaving.metadata, deletion_timestamp=at(30))
    )
    assert seen(leaving).place == "changing"
    assert seen(leaving).since == at(30)
    assert seen(leaving, toolkit("toolkit-2")).place == "changing", "the old one is still there"
    gone = view(msgspec.convert(NODE, Node), (), (), None, WANTED)
    assert (gone.place, verdicts(gone)["toolkit"]) == ("changing", "waiting")


@pytest.mark.parametrize(
    ("published", "outcome"),
    [
        (state(), "passed"),
        (state(pod="toolkit-0"), "waiting"),
        (state(pod=""), "passed"),
        (None, "waiting"),
        (state("Refused"), "failed"),
        (state("RolledBack"), "failed"),
        (state("Drifted"), "failed"),
        (state("Unreachable"), "waiting"),
    ],
    ids=["configured", "an older pod", "an older agent", "nothing", "refused", "rolled back", "drifted", "unreachable"],
)
def test_what_the_toolkit_says_counts_when_this_pod_says_it(published: NodeStanding | None, outcome: str) -> None:
    assert verdicts(seen(published=published))["toolkit"] == outcome


def test_a_toolkit_that_publishes_nothing_is_believed_when_it_is_ready() -> None:
    other = Wanted(revision="new", publishes=False, hands_out=True)
    assert verdicts(seen(published=None, wanted=other))["toolkit"] == "passed"
    assert verdicts(seen(published=state("Refused"), wanted=other))["toolkit"] == "failed"


def test_a_pod_that_crashes_has_failed_and_one_that_starts_has_not() -> None:
    not_ready = [{"type": "Ready", "status": "False"}]
    crashed = {"name": "ctr", "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}}}
    found = verdict(seen(toolkit(conditions=not_ready, containerStatuses=[crashed])), "toolkit")
    assert (found.outcome, found.text) == (
        "failed",
        "its toolkit's pod is not ready: ctr CrashLoopBackOff back-off 10s",
    )
    creating = {"name": "ctr", "state": {"waiting": {"reason": "PodInitializing"}}}
    found = verdict(seen(toolkit(conditions=not_ready, containerStatuses=[creating])), "toolkit")
    assert found.outcome == "waiting"


def test_a_validation_from_before_the_toolkit_was_started_is_stale() -> None:
    found = seen(validators=(validator(looked=9),))
    assert (found.stale, verdicts(found)["validation"]) == (True, "waiting")
    assert not seen(validators=(validator(looked=10),)).stale
    assert not seen(validators=(validator(initContainerStatuses=[]),)).stale, "it has not looked at all yet"


def test_a_validation_that_does_not_pass_is_told_with_the_validators_own_words() -> None:
    crashed = {"name": "plugin-validation", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    steps = {"validation": {"steps": [{"name": "cuda", "ready": True}, {"name": "plugin", "message": "no GPUs"}]}}
    pod = validator(ready=False, initContainerStatuses=[crashed])
    found = verdict(seen(validators=(pod,), published=state(**steps)), "validation")
    assert found.outcome == "failed"
    assert found.text == "its validation has not passed: plugin-validation CrashLoopBackOff: no GPUs"
    assert verdict(seen(validators=()), "validation").outcome == "waiting"


@pytest.mark.parametrize(
    ("resource", "amount", "outcome"),
    [
        ("nvidia.com/gpu", "0", "failed"),
        ("cpu", "8", "failed"),
        ("nvidia.com/gpu.shared", "8", "passed"),
        ("nvidia.com/mig-1g.5gb", "7", "passed"),
    ],
)
def test_any_gpu_to_hand_out_will_do(resource: str, amount: str, outcome: str) -> None:
    node = {**NODE, "status": {"allocatable": {resource: amount}}}
    assert verdicts(seen(node=node))["devices"] == outcome


def test_nothing_is_asked_of_operands_that_should_not_be_there() -> None:
    bare = {"metadata": {"name": "gpu-a"}, "status": {}}
    assert verdicts(seen(node=bare, validators=())) == {
        "toolkit": "passed",
        "devices": "passed",
        "validation": "passed",
    }
    off = Wanted(revision="new", publishes=True, hands_out=False)
    assert verdicts(seen(node={**NODE, "status": {}}, wanted=off))["devices"] == "passed"


def test_a_node_that_is_not_ready_is_not_reachable() -> None:
    found = seen(node={**NODE, "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}})
    assert (found.reachable, verdicts(found)["toolkit"]) == (False, "waiting")


def daemonset(image: str = "ours", **container: Any) -> DaemonSet:
    spec = {"template": {"spec": {"containers": [{"name": "ctr", "image": image, **container}]}}}
    return msgspec.convert({"spec": spec}, DaemonSet)


def test_only_our_toolkit_publishes_and_only_when_it_configures_a_runtime() -> None:
    assert publishes(daemonset(), "ours")
    assert not publishes(daemonset("nvcr.io/nvidia/k8s/container-toolkit:v1.20.0"), "ours")
    assert not publishes(daemonset(env=[{"name": "NO_RUNTIME_CONFIG", "value": "true"}]), "ours")
    assert not publishes(daemonset(args=["--no-runtime-config"]), "ours")
    assert not publishes(DaemonSet(), "ours")
