"""Which logs of operands a live look reads, and what it says when it may not."""

import asyncio
import datetime as dt
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import msgspec
import yaml

from lockgate.collect.operand_logs import own_runs, wanted_runs
from lockgate.model.facts import API_SECTIONS
from lockgate.model.objects import Node, Pod
from tests.collect.test_live import ask
from tests.rules.world import objects

DRIVER = "nvidia-driver-daemonset-gpu-a"
TEXT = "Could not resolve Linux kernel version"
FACTS = f"""
operator: {{nodes: [gpu-a], stuck: {{gpu-a: driver}}}}
nodes: {{gpu-a: {{status: {{capacity: {{nvidia.com/gpu: null}}, allocatable: {{nvidia.com/gpu: null}}}}}}}}
pods:
  default/x: {{}}
  gpu-operator/{DRIVER}:
    status:
      conditions: [{{type: Ready, status: "False"}}]
      containerStatuses:
        - {{name: nvidia-driver-ctr, restartCount: 4, state: {{waiting: {{reason: CrashLoopBackOff}}}}}}
"""


def recorded(folder: Path, logs: dict[str, str]) -> str:
    """A cluster whose driver crashes, as a bundle; its path without the suffix."""
    made = objects(yaml.safe_load(FACTS))
    files = {f"cluster/{s.plural}.json": json.dumps({"items": made[s.section]}) for s in API_SECTIONS}
    files |= {f"logs/{place}.log": text for place, text in logs.items()}
    with tarfile.open(folder / "cluster.tgz", "w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(f"cluster/{name}")
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return str(folder / "cluster")


def looked_at(folder: Path, target: str, **more: Any) -> tuple[int, dict[str, Any], list[str]]:
    bundle = recorded(folder, {f"gpu-operator/{DRIVER}/nvidia-driver-ctr": TEXT})
    code, report, _, server = asyncio.run(ask(folder, bundle, target, **more))
    return code, report, [r.path for r in server.requests if r.path.endswith("/log")]


def test_a_node_is_told_what_its_driver_died_of(tmp_path: Path) -> None:
    code, report, _ = looked_at(tmp_path, "node/gpu-a")
    assert (code, report["findings"][0]["id"]) == (3, "driver/kernel-packages")
    assert TEXT in report["findings"][0]["evidence"][0]["verbatim"]


def test_a_pod_that_waits_for_a_gpu_is_told_what_the_driver_died_of(tmp_path: Path) -> None:
    code, report, logs = looked_at(tmp_path, "pod/x")
    assert (code, report["findings"][0]["id"]) == (3, "driver/kernel-packages")
    assert len(logs) <= 12


def test_without_the_right_to_read_logs_it_names_the_verb(tmp_path: Path) -> None:
    # The server sees a log as the pod's own path.
    def refused(plural: str, namespace: str, name: str) -> bool:
        return plural == "pods" and namespace == "gpu-operator" and bool(name)

    _, report, _ = looked_at(tmp_path, "node/gpu-a", refused=refused)
    open_ = {n["id"]: n for n in report["notChecked"]}
    assert open_["driver/kernel-packages"]["how"] == "RBAC: get on pods/log in namespace gpu-operator"
    assert "operands/init-waits" in {f["id"] for f in report["findings"]}


def test_of_many_nodes_the_first_broken_stage_of_each_is_read_first() -> None:
    pods = [_pod(name, node) for node in ("a", "b") for name in ("nvidia-dcgm-exporter", "nvidia-driver-daemonset")]
    runs = wanted_runs(pods, (), most=3)
    assert [(r.pod.name, r.pod.spec.node_name) for r in runs] == [
        ("nvidia-driver-daemonset-a", "a"),
        ("nvidia-driver-daemonset-b", "b"),
        ("nvidia-dcgm-exporter-a", "a"),
    ]


def test_a_container_that_has_just_begun_anew_is_asked_for_its_last_run_too() -> None:
    pod = _pod("nvidia-driver-daemonset", "a", {"running": {}}, restarts=2)
    assert [r.previous for r in wanted_runs([pod], (), most=9)] == [False, True]


def test_a_container_in_a_crash_loop_is_read_while_it_looks_ready() -> None:
    pod = _pod(
        "nvidia-driver-daemonset", "a", {"running": {"startedAt": "2026-01-01T10:00:00Z"}}, restarts=5, ready=True
    )
    now = dt.datetime(2026, 1, 1, 10, 0, 30, tzinfo=dt.UTC)
    assert [r.previous for r in wanted_runs([pod], (), most=9, now=now)] == [False, True]
    assert wanted_runs([pod], (), most=9, now=now + dt.timedelta(hours=1)) == []


def test_a_plugin_that_is_ready_is_read_where_the_node_offers_fewer_gpus_than_it_has() -> None:
    pod = _pod("nvidia-device-plugin-daemonset", "a", {"running": {}}, ready=True)
    offers = [{"nvidia.com/gpu": "2"}, {"nvidia.com/gpu": "1"}, {}]
    assert [len(wanted_runs([pod], (_node("a", offer),), most=9)) for offer in offers] == [0, 1, 1]


def test_a_driver_that_is_ready_is_read_where_its_node_lacks_a_gpu_or_a_pod_ended() -> None:
    pod = _pod("nvidia-driver-daemonset", "a", {"running": {}}, ready=True)
    whole, one_less = ({"nvidia.com/gpu": "2"}, {"nvidia.com/gpu": "1"})
    assert [len(wanted_runs([pod], (_node("a", offer),), most=9)) for offer in (whole, one_less)] == [0, 1]
    assert len(wanted_runs([pod], (_node("a", whole),), most=9, doubted=("a",))) == 1


def test_of_pods_that_are_asked_about_those_that_are_not_well_are_read_first() -> None:
    pods = [_pod(name, "a", {"running": {}}, ready=name == "well") for name in ("well", "sick", "new")]
    assert [run.pod.name for run in own_runs(pods, most=2)] == ["sick-a", "new-a"]


def test_an_init_container_that_failed_and_the_run_before_a_restart_are_read_too() -> None:
    again = _pod("x", "a", {"running": {}}, restarts=1)
    assert [(run.container, run.previous) for run in own_runs([again], most=1)] == [("main", False), ("main", True)]
    failed = {"name": "setup", "state": {"terminated": {"exitCode": 1}}}
    done = {"name": "done", "state": {"terminated": {"exitCode": 0}}}
    waits = {"name": "main", "state": {"waiting": {"reason": "PodInitializing"}}}
    status = {"initContainerStatuses": [done, failed], "containerStatuses": [waits]}
    pod = msgspec.convert({"metadata": {"name": "x"}, "status": status}, Pod)
    assert [run.container for run in own_runs([pod], most=1)] == ["setup"]


def test_the_operator_itself_is_read_although_it_is_ready() -> None:
    labelled = {"name": "gpu-operator-7f", "namespace": "gpu-operator", "labels": {"app": "gpu-operator"}}
    ready = {"conditions": [{"type": "Ready", "status": "True"}], "containerStatuses": [{"name": "gpu-operator"}]}
    pod = msgspec.convert({"metadata": labelled, "status": ready}, Pod)
    assert [r.container for r in wanted_runs([pod], (), most=9)] == ["gpu-operator"]


def test_a_completed_init_container_and_a_pod_that_goes_are_left_alone() -> None:
    done = _pod("nvidia-driver-daemonset", "a", {"terminated": {"exitCode": 0}})
    gone = msgspec.convert(
        {"metadata": {"name": "nvidia-x", "deletionTimestamp": "2026-01-01T00:00:00Z", "ownerReferences": [_OWNER]}},
        Pod,
    )
    assert wanted_runs([done, gone], (), most=9) == []


_OWNER = {"kind": "DaemonSet", "name": "x"}


def _pod(name: str, node: str, state: dict[str, Any] | None = None, *, restarts: int = 0, ready: bool = False) -> Pod:
    crashed = {"terminated": {"exitCode": 1}}
    return msgspec.convert(
        {
            "metadata": {"name": f"{name}-{node}", "namespace": "gpu-operator", "ownerReferences": [_OWNER]},
            "spec": {"nodeName": node},
            "status": {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": str(ready)}],
                "containerStatuses": [
                    {
                        "name": "main",
                        "ready": ready,
                        "restartCount": restarts,
                        "state": state or crashed,
                        "lastState": crashed if restarts else {},
                    }
                ],
            },
        },
        Pod,
    )


def _node(name: str, allocatable: dict[str, str]) -> Node:
    status = {"capacity": {"nvidia.com/gpu": "2"}, "allocatable": allocatable}
    return msgspec.convert({"metadata": {"name": name}, "status": status}, Node)
