"""The verbs on the real cluster: one view of it, the same answer from a bundle, pods that prove a node and go again.

gpu-c has no device plugin meanwhile (see test_15): that is what the whole cluster has to say, and where smoke fails.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.e2e.conftest import NAMES, get, gpus, wait_phase, wait_unscheduled
from tests.cluster.install import NAMESPACE
from tests.cluster.manifests import pod
from tests.cluster.supervisor_client import Supervisor

pytestmark = pytest.mark.e2e

_LOOKS = 5  # at a cluster that moves
SHORT_LIVED = ("get", "pods", "-A", "-l", "lockgate.dev/short-lived", "-o", "name")


def start(cluster: Cluster, *arguments: str) -> subprocess.Popen[str]:
    """`kubectl gpu ARGUMENTS` on the live cluster, running."""
    command = [str(Path(sys.executable).with_name("kubectl-gpu")), *arguments, "--kubeconfig", str(cluster.kubeconfig)]
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def gpu(cluster: Cluster, *arguments: str, codes: tuple[int, ...] = (0, 3, 4)) -> tuple[int, str, str]:
    """Exit code, what was printed, and what was said beside it."""
    process = start(cluster, *arguments)
    out, err = process.communicate(timeout=180)
    assert process.returncode in codes, (process.returncode, out, err)
    return process.returncode, out, err


def saved(*arguments: str) -> dict[str, Any]:
    """A report of `kubectl gpu ARGUMENTS -o json` from files."""
    command = [str(Path(sys.executable).with_name("kubectl-gpu")), *arguments, "-o", "json"]
    document: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=60).stdout)
    return document


def told(report: dict[str, Any]) -> dict[str, Any]:
    """What a report says, without the words that differ at each look: ages, counts, lines of logs."""
    fields = ("id", "severity", "about", "follows", "affects")
    return {
        "verdict": report["verdict"],
        "findings": [{field: finding[field] for field in fields} for finding in report["findings"]],
    }


def told_live(cluster: Cluster) -> dict[str, Any]:
    return told(json.loads(gpu(cluster, "why", "-o", "json")[1]))


def nothing_short_lived_is_left(cluster: Cluster) -> bool:
    return not cluster.kubectl(*SHORT_LIVED).strip()


# --- one view


def test_the_whole_cluster_names_the_node_without_a_plugin_and_no_other(cluster: Cluster) -> None:
    code, out, err = gpu(cluster, "why", "-o", "json")
    assert err == ""
    grave = [f for f in json.loads(out)["findings"] if f["severity"] in ("error", "blocker")]
    blamed = json.dumps([(f["about"], f["affects"]) for f in grave])
    assert not [name for name in NAMES if name in blamed], blamed
    if gpus(cluster, "gpu-c") == ("2", "0"):  # it had a plugin and lost it; one that never was is somebody's choice
        assert (code, "gpu-c" in blamed) == (3, True), out


def test_survey_shows_every_node_with_both_gates(cluster: Cluster) -> None:
    _, out, _ = gpu(cluster, "survey", "-o", "json")
    nodes = {n["node"]: n for n in json.loads(out)["nodes"]}
    assert set(nodes) == {"gpu-a", "gpu-b", "gpu-c"}
    for name in NAMES:
        (offer,) = nodes[name]["offers"]
        assert (offer["capacity"], offer["allocatable"]) == (2, 2)
        assert "nvidia" in nodes[name]["handlers"]
        assert nodes[name]["cdiDevices"] > 0
    assert max(len(line) for line in gpu(cluster, "survey")[1].splitlines()) <= 100


def test_a_namespace_and_a_cronjob_are_asked_about(cluster: Cluster) -> None:
    spec = json.loads(pod("x", gpus=64))["spec"]
    job = {"spec": {"template": {"spec": spec}}}
    cronjob = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "night", "namespace": "default"},
        "spec": {"schedule": "0 3 1 1 *", "jobTemplate": job},
    }
    cluster.apply(json.dumps(cronjob))
    try:
        code, out, _ = gpu(cluster, "why", "cronjob/night", "-n", "default")
        assert (code, "has no pod between its runs" in out) == (0, True), out
        cluster.kubectl("create", "job", "night-1", "--from=cronjob/night", "-n", "default")
        wait_unscheduled(cluster, pod_of_job(cluster, "night-1"), "Insufficient nvidia.com/gpu")
        code, out, _ = gpu(cluster, "why", "cronjob/night", "-n", "default", "-o", "json")
        assert (code, json.loads(out)["findings"][0]["id"]) == (3, "scheduling/all-held"), out
        code, out, _ = gpu(cluster, "why", "namespace/default", "-o", "json")
        assert "default/night-1" in json.dumps(json.loads(out)["findings"][0]["affects"]), out
    finally:
        cluster.kubectl("delete", "cronjob", "night", "-n", "default", "--cascade=foreground")
        cluster.kubectl("delete", "job", "night-1", "-n", "default", "--ignore-not-found")


def pod_of_job(cluster: Cluster, job: str) -> str:
    """The name of a job's pod, once it is there."""
    listed = ("get", "pods", "-n", "default", "-l", f"job-name={job}", "-o", "jsonpath={.items[*].metadata.name}")
    cluster.wait_for(lambda: cluster.kubectl(*listed), f"the pod of job {job}")
    return cluster.kubectl(*listed)


# --- bundles


def test_the_bundle_that_collect_writes_answers_as_the_cluster(cluster: Cluster, tmp_path: Path) -> None:
    """As it did just before or just after: gpu-c's plugin starts, crashes and is held back in turns all the while."""
    bundle = tmp_path / "bundle.tgz"
    before = told_live(cluster)
    for _ in range(_LOOKS):
        gpu(cluster, "collect", "-o", str(bundle), "--quiet", codes=(0, 4))
        report, after = told(saved("why", "--from", str(bundle))), told_live(cluster)
        if report in (before, after):
            break
        before = after
    assert report in (before, after), f"{_LOOKS} bundles, none as the cluster before or after it"
    assert {n["node"] for n in saved("survey", "--from", str(bundle))["nodes"]} == {"gpu-a", "gpu-b", "gpu-c"}
    assert saved("bundle", "show", str(bundle))["complete"] is True


def test_a_probe_reads_a_node_without_changing_it(cluster: Cluster, tmp_path: Path) -> None:
    node = cluster.nodes["gpu-a"]
    config = node.files / "etc/containerd"
    before = {p: p.lstat().st_mtime_ns for p in sorted(config.rglob("*"))}
    bundle = tmp_path / "bundle.tgz"
    _, _, err = gpu(cluster, "collect", "-o", str(bundle), "--probe", "gpu-a", codes=(0, 4))
    assert f"--probe makes 1 pod in namespace {NAMESPACE}, on gpu-a" in err
    assert nothing_short_lived_is_left(cluster)
    shown = saved("bundle", "show", str(bundle))
    (area,) = shown["nodes"]
    assert (area["name"], area["missing"]) == ("gpu-a", "")
    linted = saved("lint", str(bundle), "--node", "gpu-a")
    assert "99-nvidia.toml" in json.dumps(linted["linted"])
    assert {p: p.lstat().st_mtime_ns for p in sorted(config.rglob("*"))} == before


# --- smoke


def test_smoke_passes_where_both_gates_are_open_and_names_the_one_that_is_not(cluster: Cluster) -> None:
    code, out, err = gpu(cluster, "smoke", "-o", "json")
    results = {r["node"]: r for r in json.loads(out)["nodes"]}
    assert code == 3
    for name in NAMES:
        assert results[name]["result"] == "passed", out
        assert len(results[name]["devices"]) == 1
        assert re.match(r"GPU 0: \S.* \(UUID: GPU-", results[name]["devices"][0]), out
    assert (results["gpu-c"]["result"], results["gpu-c"]["gate"]) == ("failed", "gate 1")
    assert results["gpu-c"]["diagnosis"]["findings"][0]["id"].startswith("operands/plugin-")
    assert "makes 3 pods in namespace" in err
    assert nothing_short_lived_is_left(cluster)


def test_an_interrupted_smoke_leaves_nothing(cluster: Cluster) -> None:
    """While nothing can be decided of its pod: no scheduler looks at it."""
    scheduler = Supervisor(cluster.folder / "control/supervisor.sock")
    scheduler.freeze("kube-scheduler")
    try:
        process = start(cluster, "smoke", "--node", "gpu-a")
        cluster.wait_for(lambda: not nothing_short_lived_is_left(cluster), "the pod of smoke", 60, every=0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=180)
    finally:
        scheduler.thaw("kube-scheduler")
    assert (process.returncode, "Traceback" in err) == (130, False), err
    assert nothing_short_lived_is_left(cluster)


def test_a_full_node_is_not_tried(cluster: Cluster) -> None:
    cluster.apply(pod("holder", gpus=2, on="gpu-a"))
    wait_phase(cluster, "holder", "Running")
    code, out, _ = gpu(cluster, "smoke", "--node", "gpu-a")
    assert (code, "skipped  gpu-a  no nvidia.com/gpu is free; held by default/holder (2)" in out) == (4, True), out


# --- watch


def said_until(process: subprocess.Popen[str], words: str) -> str:
    """What a running command has printed once it has printed these words; it is killed when it does not in time."""
    assert process.stdout is not None
    seen = ""
    watchdog = threading.Timer(180, process.kill)
    watchdog.start()
    try:
        while words not in seen:
            line = process.stdout.readline()
            assert line, f"it ended without {words!r}: {seen}"
            seen += line
    finally:
        watchdog.cancel()
    return seen


def test_watch_tells_each_gate_of_a_real_pod(cluster: Cluster) -> None:
    process = start(cluster, "why", "pod/soon", "-n", "default", "--watch")
    said_until(process, "name\n")
    cluster.apply(pod("soon", gpus=1, on="gpu-a"))
    out, err = process.communicate(timeout=180)
    assert (process.returncode, err) == (0, ""), out
    out = " ".join(out.split())
    steps = [step for step in ("gate 1 passed it has a place on gpu-a", "gate 2 passed", "ready") if step in out]
    assert len(steps) == 3, out
    assert out.index("gate 1 passed") < out.index("gate 2 passed") < out.index("Nothing is wrong")


def test_watch_follows_a_pod_that_waits_until_a_place_is_free(cluster: Cluster) -> None:
    cluster.apply(pod("holder", gpus=2, on="gpu-a"))
    wait_phase(cluster, "holder", "Running")
    cluster.apply(pod("late", gpus=2, on="gpu-a"))
    wait_unscheduled(cluster, "late", "Insufficient nvidia.com/gpu")
    process = start(cluster, "why", "pod/late", "-n", "default", "--watch")
    seen = said_until(process, "Next\n")
    assert "scheduling/all-held" in seen
    cluster.kubectl("delete", "pod", "holder", "-n", "default", "--grace-period=0", "--force")
    out, err = process.communicate(timeout=180)
    assert (process.returncode, err) == (0, ""), seen + out
    assert "gate 1 passed" in out
    assert get(cluster, "pod", "late")["status"]["phase"] == "Running"
