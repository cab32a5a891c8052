"""Messages of several lines in what kubectl describe prints: it writes them as they are, wherever their lines begin."""

# ruff: noqa: E501 - texts of real programs stay on one line

import pytest

from lockgate.collect.offline import from_bytes
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.model.facts import Missing
from lockgate.model.objects import Event, Pod
from lockgate.rules import all_rules

RULES = all_rules()
OCI = "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running hook #0: error running hook: exit status 1, stdout: , stderr: "
HEAD = "Name:             train\nNamespace:        ml\nNode:             g7/10.1.2.3\nStatus:           Pending\n"
CONTAINERS = "Containers:\n  main:\n    Image:      app:1\n"
ENDED = """\
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       StartError
      Message:      {}
      Exit Code:    128
      Started:      Sat, 29 Nov 2026 10:03:31 +0000
    Ready:          False
    Restart Count:  4
"""
LIMITS = "    Limits:\n      nvidia.com/gpu:  1\n"
EVENTS = "Events:\n  Type     Reason   Age  From     Message\n  ----     ------   ---- ----     -------\n"
BACK_OFF = "  Warning  BackOff  1s (x3 over 5s)  kubelet  Back-off restarting failed container\n"
TEXTS = {
    "E13": "Using requested mode 'cdi'\ninvoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported. Please use the NVIDIA Container Runtime (e.g. specify the --runtime=nvidia flag) instead: unknown",
    "E14": "Auto-detected mode as 'legacy'\nnvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown",
    "E16": "Auto-detected mode as 'legacy'\nnvidia-container-cli: initialization error: driver rpc error: timed out: unknown",
    "E17": "Auto-detected mode as 'legacy'\nnvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update your driver to a newer version, or use an earlier cuda container: unknown",
    "J04": "Auto-detected mode as 'legacy'\nnvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown",
}


def failed(message: str) -> str:
    return f"  Warning  Failed   3s (x9 over 2m)  kubelet  Error: {message}\n"


def read(text: str) -> tuple[Pod, tuple[Event, ...]]:
    facts = from_bytes("standard input", text.encode())
    assert not isinstance(facts.events, Missing)
    return facts.known_pods[0], facts.events


@pytest.mark.parametrize("code", TEXTS)
def test_a_hook_that_fails_is_understood_from_an_event(code: str) -> None:
    text = HEAD + CONTAINERS + LIMITS + EVENTS + failed(OCI + TEXTS[code]) + BACK_OFF
    answer = diagnose(from_bytes("-", text.encode()), parse_target("pod/train", "ml"), RULES)
    assert code in answer.findings[0].codes
    assert [e.reason for e in read(text)[1]] == ["Failed", "BackOff"]


@pytest.mark.parametrize("code", TEXTS)
def test_a_hook_that_fails_is_understood_from_how_the_container_ended(code: str) -> None:
    text = HEAD + CONTAINERS + ENDED.format(OCI + TEXTS[code]) + LIMITS + EVENTS + BACK_OFF
    answer = diagnose(from_bytes("-", text.encode()), parse_target("pod/train", "ml"), RULES)
    assert code in answer.findings[0].codes


TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n      x()\n\nRuntimeError: CUDA error: no kernel image\n    State: lost\nStatus: lost'


def test_a_log_as_message_is_read_whole_and_what_stands_below_it() -> None:
    pod, _ = read(HEAD + CONTAINERS + ENDED.format(TRACE) + LIMITS + EVENTS + BACK_OFF)
    ended = pod.status.container_statuses[0].last_state.terminated
    assert ended is not None
    assert (ended.message, ended.exit_code, ended.reason) == (TRACE, 128, "StartError")
    assert pod.status.container_statuses[0].restart_count == 4
    assert pod.spec.containers[0].resources.limits == {"nvidia.com/gpu": "1"}


def test_a_message_whose_exit_code_was_cut_off_ends_at_the_next_field() -> None:
    cut = ENDED.format("one\ntwo").replace("      Exit Code:    128\n", "")
    pod, _ = read(HEAD + CONTAINERS + cut + LIMITS + EVENTS + BACK_OFF)
    ended = pod.status.container_statuses[0].last_state.terminated
    assert ended is not None
    assert ended.message == "one\ntwo"
    assert pod.status.container_statuses[0].restart_count == 4


def test_the_message_of_the_pod_is_read_whole() -> None:
    pod, _ = read(HEAD + "Message:          one\nError: two\n  three\nIP:               \n" + CONTAINERS + LIMITS)
    assert pod.status.message == "one\nError: two\n  three"
    assert [c.name for c in pod.spec.containers] == ["main"]


@pytest.mark.parametrize("below", ["\nany ideas?\n", "me@host:~$ kubectl get nodes\nNAME  STATUS\n", "\n\n"])
def test_what_stands_below_the_last_event_is_not_of_it(below: str) -> None:
    _, events = read(HEAD + CONTAINERS + LIMITS + EVENTS + failed("one\n\ttwo") + BACK_OFF + below)
    assert [e.message for e in events] == ["Error: one\n\ttwo", "Back-off restarting failed container"]


def test_the_container_that_a_newer_kubectl_names_before_a_message_is_no_part_of_it() -> None:
    row = failed("ErrImagePull").replace("Error:", "spec.containers{main}: Error:")
    (event,) = read(HEAD + CONTAINERS + LIMITS + EVENTS + row)[1]
    assert (event.message, event.involved_object.field_path) == ("Error: ErrImagePull", "spec.containers{main}")


def test_events_alone_keep_their_lines() -> None:
    facts = from_bytes("standard input", (EVENTS + failed("one\ntwo") + BACK_OFF).encode(), "ml", "train")
    assert not isinstance(facts.events, Missing)
    assert facts.events[0].message == "Error: one\ntwo"


SYNC = "  Warning  Failed   3s (x9 over 2m)  kubelet  Error: container create failed: read status from sync socket: No such process\n"


def test_that_a_user_namespace_is_not_described_leaves_open_whether_it_is_behind_the_runtimes_words() -> None:
    waits = "    State:          Waiting\n      Reason:       CreateContainerError\n    Ready:          False\n"
    text = HEAD + CONTAINERS + waits + LIMITS + EVENTS + SYNC
    answer = diagnose(from_bytes("-", text.encode()), parse_target("pod/train", "ml"), RULES)
    open_ = [(n.how, n.decides) for n in answer.not_checked if "injection/user-namespace" in (n.id, *n.rules)]
    assert open_ == [("kubectl get pod -n ml train -o json", True)]
    assert answer.verdict.value == "unknown"


def test_a_pod_that_is_being_deleted_is_told_as_that_and_what_keeps_it_stays_open() -> None:
    text = (
        "Name:                      x\nNamespace:                 default\nNode:                      gpu-a/10.0.0.7\n"
        "Status:                    Terminating (lasts 40m)\nTermination Grace Period:  30s\nContainers:\n  main:\n"
        "    Image:  app:1\n    State:  Running\n    Ready:  True\nConditions:\n  Type   Status\n  Ready  True\n"
    )
    diagnosis = diagnose(from_bytes("standard input", text.encode()), parse_target("pod/x", "default"), all_rules())
    assert diagnosis.exit_code == 4
    assert "is being deleted" in diagnosis.headline
    assert {n.id: n.how for n in diagnosis.not_checked}["pod/held-by-finalizer"].startswith(
        "kubectl get pod -n default x"
    )
