"""However a test run ends, nothing of its cluster stays: process, namespace, mount, interface, cgroup or folder.

Each test starts a real pytest whose only test has a cluster with a running pod, writes down everything that belongs to
it, ends that pytest in one way, and then looks for each thing on the machine.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster import cgroups, leftovers, processes
from tests.cluster.repository import REPOSITORY

pytestmark = pytest.mark.e2e

_GONE_WITHIN = 120.0  # seconds after the end of pytest, on a machine that is busy with other things
_STARTS_WITHIN = 240.0
_ENDS_WITHIN = 240.0
_TEST = """
import json, os, time
from pathlib import Path
from tests.cluster import Cluster, Node

POD = '''
apiVersion: v1
kind: Pod
metadata: {{name: sleeper}}
spec: {{containers: [{{name: main, image: "docker.io/lockgate/test:1", command: [sleep, "1000"]}}]}}
'''

def test_something():
    with Cluster([Node("stays")]) as cluster:
        cluster.apply(POD)
        phase = ("get", "pod", "sleeper", "-o", "jsonpath={{.status.phase}}")
        cluster.wait_for(lambda: cluster.kubectl(*phase) == "Running", "pod Running")
        Path({told!r} + ".partial").write_text(json.dumps([str(cluster.folder), cluster.keeper_pid]))
        os.rename({told!r} + ".partial", {told!r})
        {then}
"""
_WAITS = "time.sleep(1000)"
# The trace is taken while the inner test waits for this file.
_WAITS_FOR_GO = "while not Path({go!r}).exists(): time.sleep(0.02)"


@dataclass(frozen=True)
class Trace:
    """What a living cluster is made of, as the machine sees it."""

    name: str
    folder: Path
    keeper: int
    processes: frozenset[tuple[int, str]]  # number and start time: numbers are used again
    namespaces: frozenset[str]
    interfaces: frozenset[str]


@pytest.fixture
def run_pytest() -> Iterator[list[subprocess.Popen[bytes]]]:
    """The pytest that a test starts; killed at the end should the test have failed."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()


def start(tmp_path: Path, started: list[subprocess.Popen[bytes]], then: str) -> subprocess.Popen[bytes]:
    """Start a pytest in a process group of its own, as a terminal would; what its test does at last is `then`."""
    told = tmp_path / "told.json"
    (tmp_path / "test_inner.py").write_text(_TEST.format(told=str(told), then=then))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}"]
    with (tmp_path / "output").open("wb") as output:
        process = subprocess.Popen(
            [*command, "--override-ini=pythonpath=", str(tmp_path / "test_inner.py")],
            cwd=REPOSITORY,
            env=os.environ | {"PYTHONPATH": str(REPOSITORY), "LOCKGATE_ARTIFACTS": str(tmp_path / "artifacts")},
            stdout=output,
            stderr=output,
            process_group=0,
        )
    started.append(process)
    return process


def trace(tmp_path: Path, process: subprocess.Popen[bytes]) -> Trace:
    """Wait until the inner test has its pod, then write down what is there."""
    told = tmp_path / "told.json"
    until = time.monotonic() + _STARTS_WITHIN
    while not told.exists():
        assert process.poll() is None, (tmp_path / "output").read_text()
        assert time.monotonic() < until, (tmp_path / "output").read_text()
        time.sleep(0.02)
    folder, owner = json.loads(told.read_text())
    family = [owner, *descendants(owner)]
    return Trace(
        name=Path(folder).name,
        folder=Path(folder),
        keeper=owner,
        processes=frozenset((pid, started_at(pid)) for pid in family),
        namespaces=frozenset(namespace for pid in family for namespace in namespaces_of(pid)) - namespaces_of("self"),
        interfaces=frozenset(path.name for path in Path("/sys/class/net").iterdir()),
    )


def descendants(pid: int) -> list[int]:
    """Children, their children, and so on."""
    direct = processes.children(pid)
    return [*direct, *(lower for child in direct for lower in descendants(child))]


def started_at(pid: int) -> str:
    """When a process started, in clock ticks; "" when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def namespaces_of(pid: int | str) -> set[str]:
    """The namespaces that a process is in, for example `net:[4026531840]`."""
    try:
        return {str(path.readlink()) for path in Path(f"/proc/{pid}/ns").iterdir()}
    except OSError:
        return set()


def what_stays(before: Trace) -> list[str]:
    """Everything of the cluster that the machine still has, one line each."""
    running = [pid for pid, when in before.processes if started_at(pid) == when]
    everyone = {name for path in Path("/proc").glob("[0-9]*") for name in namespaces_of(path.name)}
    interfaces = {path.name for path in Path("/sys/class/net").iterdir()}
    mounts = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if before.name in line]
    return [
        *(f"process {pid}" for pid in running),
        *(f"namespace {name}" for name in before.namespaces & everyone),
        *(f"interface {name}" for name in interfaces - before.interfaces),
        *(f"mount {line}" for line in mounts),
        *(f"cgroup {name}" for name in cgroups.names(before.name)),
        *(f"folder {path}" for path in before.folder.parent.glob(f"{before.name}*")),
    ]


def assert_nothing_stays(before: Trace) -> None:
    """Nothing of the cluster is left, at the latest a few seconds after pytest's end."""
    assert len(before.processes) > 12, "the trace must have seen the cluster, or it proves nothing"
    assert len(before.namespaces) > 8
    until = time.monotonic() + _GONE_WITHIN
    while left := what_stays(before):
        assert time.monotonic() < until, "\n".join(left)
        time.sleep(0.1)


def test_nothing_stays_after_a_normal_end(tmp_path: Path, run_pytest: list[subprocess.Popen[bytes]]) -> None:
    go = tmp_path / "go"
    process = start(tmp_path, run_pytest, _WAITS_FOR_GO.format(go=str(go)))
    before = trace(tmp_path, process)
    assert what_stays(before), "a living cluster must be seen"
    go.touch()
    assert process.wait(_ENDS_WITHIN) == 0, (tmp_path / "output").read_text()
    assert not what_stays(before)


def test_nothing_stays_after_a_failed_test(tmp_path: Path, run_pytest: list[subprocess.Popen[bytes]]) -> None:
    go = tmp_path / "go"
    process = start(tmp_path, run_pytest, _WAITS_FOR_GO.format(go=str(go)) + "\n        assert 1 == 2")
    before = trace(tmp_path, process)
    go.touch()
    assert process.wait(_ENDS_WITHIN) == 1, (tmp_path / "output").read_text()
    assert_nothing_stays(before)
    (bundle,) = (tmp_path / "artifacts").iterdir()
    assert f"bundle kept: kubectl gpu why --from {bundle}" in (tmp_path / "output").read_text()


def test_nothing_stays_after_ctrl_c(tmp_path: Path, run_pytest: list[subprocess.Popen[bytes]]) -> None:
    process = start(tmp_path, run_pytest, _WAITS)
    before = trace(tmp_path, process)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to the whole foreground group
    assert process.wait(_ENDS_WITHIN) == 2, (tmp_path / "output").read_text()
    assert_nothing_stays(before)


def test_nothing_stays_after_kill_9(tmp_path: Path, run_pytest: list[subprocess.Popen[bytes]]) -> None:
    process = start(tmp_path, run_pytest, _WAITS)
    before = trace(tmp_path, process)
    process.kill()
    assert process.wait(_ENDS_WITHIN) == -signal.SIGKILL
    assert_nothing_stays(before)


def test_a_killed_keeper_takes_its_processes_along_and_the_next_one_removes_the_rest(
    tmp_path: Path, run_pytest: list[subprocess.Popen[bytes]]
) -> None:
    process = start(tmp_path, run_pytest, _WAITS)
    before = trace(tmp_path, process)
    os.kill(before.keeper, signal.SIGKILL)
    until = time.monotonic() + _GONE_WITHIN
    # Its owner still lives, so the keeper itself stays a zombie for now.
    while alive := [pid for pid, when in before.processes if started_at(pid) == when and pid != before.keeper]:
        assert time.monotonic() < until, alive
        time.sleep(0.1)
    assert before.name in leftovers.sweep(before.folder.parent)
    process.kill()
    process.wait()
    assert_nothing_stays(before)
