"""Several broken nodes: each effect stands once, beneath the cause of its own node, or is a cause where it has none."""

from typing import Any

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.model.finding import Diagnosis
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = all_rules()
_NONE = {"capacity": {"nvidia.com/gpu": None}, "allocatable": {"nvidia.com/gpu": None}}
_LOST = {"allocatable": {"nvidia.com/gpu": "0"}}
_FORGOTTEN = {"capacity": {"nvidia.com/gpu": "0"}, **_LOST}
_SILENT = {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]}
_UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
_DRIVER = "gpu-operator/nvidia-driver-daemonset"
_TOOLKIT = "gpu-operator/nvidia-container-toolkit-daemonset"
_HEADERS = "Could not resolve Linux kernel version"
_KEY = "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service"


def why(ask: str, **facts: Any) -> Diagnosis:
    return diagnose(snapshot(facts), parse_target(ask, "default"), RULES)


def told(answer: Diagnosis) -> list[tuple[str, str, str]]:
    """Each finding but remarks: its id, whom it is about, and what it follows from."""
    seen = [f for f in answer.findings if f.severity.value != "info"]
    return [(f.id, f.summary.partition(":")[0], f.follows) for f in seen]


def crash(container: str) -> dict[str, Any]:
    waiting = {"name": container, "restartCount": 8, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    ended = {"lastState": {"terminated": {"reason": "Error", "exitCode": 1}}}
    return {"status": {"conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [waiting | ended]}}


def test_a_plugin_that_is_gone_on_one_node_does_not_follow_from_another_node_that_is_silent() -> None:
    answer = why(
        "pod/x",
        operator={"nodes": ["gpu-a", "gpu-b"]},
        nodes={"gpu-a": {"spec": {"taints": [_UNREACHABLE]}, "status": _SILENT}, "gpu-b": {"status": _LOST}},
        pods={"default/x": {}},
    )
    assert told(answer) == [
        ("nodes/not-ready", "gpu-a", ""),
        ("scheduling/untolerated-taint", "gpu-a", "nodes/not-ready"),
        ("operands/plugin-gone", "gpu-b", ""),
    ]


def test_a_toleration_that_lacks_does_not_follow_from_a_node_that_is_silent() -> None:
    own = {"key": "team", "value": "research", "effect": "NoSchedule"}
    answer = why(
        "pod/x", nodes={"gpu-a": {"spec": {"taints": [own, _UNREACHABLE]}, "status": _SILENT}}, pods={"default/x": {}}
    )
    assert {f.codes: f.follows for f in answer.findings if f.id == "scheduling/untolerated-taint"} == {
        ("B01",): "",
        ("B04",): "nodes/not-ready",
    }


def test_a_node_that_a_person_switched_off_does_not_follow_from_the_driver_of_another() -> None:
    off = {"nvidia.com/gpu.deploy.device-plugin": None, "nvidia.com/gpu.deploy.operands": "false"}
    answer = why(
        "pod/x",
        operator={"nodes": ["gpu-a", "gpu-b"], "stuck": {"gpu-a": "driver"}},
        nodes={"gpu-a": {"status": _NONE}, "gpu-b": {"metadata": {"labels": off}, "status": _NONE}},
        pods={"default/x": {}, f"{_DRIVER}-gpu-a": crash("nvidia-driver-ctr")},
        logs={f"{_DRIVER}-gpu-a/nvidia-driver-ctr": _HEADERS},
    )
    assert [t for t in told(answer) if not t[2]] == [
        ("driver/kernel-packages", "gpu-a", ""),
        ("operands/plugin-not-targeted", "gpu-b", ""),
    ]
    assert ("operands/plugin-gone", "gpu-a", "operands/init-waits") in told(answer)


def test_a_node_whose_devices_are_lost_is_named_beside_one_whose_toolkit_crashes() -> None:
    answer = why(
        "pod/x",
        operator={"nodes": ["gpu-a", "gpu-b"], "stuck": {"gpu-a": "container-toolkit"}},
        nodes={"gpu-a": {"status": _FORGOTTEN}, "gpu-b": {"status": _LOST}},
        pods={"default/x": {}, f"{_TOOLKIT}-gpu-a": crash("nvidia-container-toolkit-ctr")},
    )
    assert [t[:2] for t in told(answer) if not t[2]] == [
        ("operands/crashes", "gpu-a"),
        ("operands/plugin-gone", "gpu-b"),
    ]


def test_three_drivers_that_fail_for_two_reasons_have_their_own_followers_once() -> None:
    names = ("gpu-a", "gpu-b", "gpu-c")
    answer = why(
        "pod/x",
        operator={"nodes": list(names), "stuck": dict.fromkeys(names, "driver")},
        nodes={name: {"status": _NONE} for name in names},
        pods={"default/x": {}} | {f"{_DRIVER}-{name}": crash("nvidia-driver-ctr") for name in names},
        logs={
            f"{_DRIVER}-gpu-a/nvidia-driver-ctr": _HEADERS,
            f"{_DRIVER}-gpu-b/nvidia-driver-ctr": _KEY,
            f"{_DRIVER}-gpu-c/nvidia-driver-ctr": _HEADERS,
        },
    )
    of = {(f.id, f.follows): f.summary for f in answer.findings}
    headers, key = of["driver/kernel-packages", ""], of["driver/unsigned-module", ""]
    assert (headers.startswith("gpu-a, gpu-c: "), key.startswith("gpu-b: ")) == (True, True)
    gone = [f.summary for f in answer.findings if f.id == "operands/plugin-gone"]
    assert [(s[:5], s.endswith("The same fault on gpu-c.")) for s in gone] == [("gpu-a", True), ("gpu-b", False)]


def test_an_operand_that_a_dead_node_keeps_off_does_not_follow_from_a_wrong_label_of_another() -> None:
    wrong = {"nvidia.com/mig.config": "all-9g.90gb", "nvidia.com/mig.config.state": "failed"}
    answer = why(
        "",
        operator={"nodes": ["gpu-a", "gpu-b"]},
        nodes={
            "gpu-a": {"spec": {"taints": [_UNREACHABLE]}, "status": _SILENT},
            "gpu-b": {"metadata": {"labels": wrong}},
        },
        logs={
            "gpu-operator/nvidia-mig-manager-gpu-b/nvidia-mig-manager": "selected mig-config not present: all-9g.90gb"
        },
    )
    assert {f.follows for f in answer.findings if f.id == "operands/left-out"} == {"nodes/not-ready"}


def test_a_plugin_that_found_nothing_on_one_node_does_not_follow_from_a_node_that_is_silent() -> None:
    plugin = "gpu-operator/nvidia-device-plugin-daemonset-gpu-b"
    answer = why(
        "pod/x",
        operator={"nodes": ["gpu-a", "gpu-b"]},
        nodes={"gpu-a": {"status": {**_NONE, **_SILENT}}, "gpu-b": {"status": _NONE}},
        pods={"default/x": {}},
        logs={f"{plugin}/nvidia-device-plugin": "No devices found. Waiting indefinitely."},
    )
    idle = [(f.summary[:5], f.follows) for f in answer.findings if f.id == "operands/plugin-idle"]
    assert sorted(idle) == [("gpu-a", "nodes/not-ready"), ("gpu-b", "")]


def test_gpus_that_fell_off_the_bus_of_two_nodes_are_one_cause_with_steps_for_both() -> None:
    fallen = {
        "type": "GpuXidError",
        "status": "True",
        "reason": "GpuXidErrorIsNotHealthy",
        "message": "ErrorCode:79 GPU:3 GPU has fallen off the bus",
    }
    nodes = {name: {"status": {**_LOST, "conditions": [fallen]}} for name in ("gpu-a", "gpu-b")}
    cause = next(f for f in why("pod/x", nodes=nodes, pods={"default/x": {}}).findings if f.id == "xid/off-the-bus")
    assert cause.summary.startswith("gpu-a, gpu-b: XID 79")
    assert cause.remedy[0].text == "Drain gpu-a (likewise for gpu-b)"
