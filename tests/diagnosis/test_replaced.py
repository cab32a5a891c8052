"""Which failed pods are leftovers is a matter of their owner: a row an owner, what else it made, and the answer."""

import time
from typing import Any

import pytest

from lockgate.diagnosis.replaced import replaced
from tests.rules.world import snapshot

OLD, NEW = "2026-11-20T10:00:00Z", "2026-11-21T10:00:00Z"
FAILED, RUNS, DONE = "failed", "running", "done"


def pod(like: str, kind: str, *, born: str = OLD, node: str = "gpu-a", uid: str = "", **labels: str) -> dict[str, Any]:
    """A pod of the owner `o`."""
    owner = {"kind": kind, "name": "o", "controller": True, "uid": uid}
    status = {"status": {"phase": "Succeeded"}} if like == DONE else {}
    metadata = {"creationTimestamp": born, "labels": labels, "ownerReferences": [owner]}
    return {"like": RUNS if like == DONE else like, "metadata": metadata, "spec": {"nodeName": node}} | status


def left_over(section: str, owner: dict[str, Any], **pods: dict[str, Any]) -> set[str]:
    """The pods that are leftovers."""
    made = {section: {"default/o": owner}} if section else {}
    facts = snapshot({"nodes": {}, "pods": {f"default/{name}": each for name, each in pods.items()}} | made)
    return {name for _, name in replaced(facts)}


def job(*, uid: str = "", **status: Any) -> dict[str, Any]:
    conditions = [{"type": kind, "status": "True"} for kind in status.pop("ended", ())]
    return {"metadata": {"uid": uid}, "spec": {"completions": 1}, "status": {"conditions": conditions} | status}


SETS = {"replica_sets": "ReplicaSet", "stateful_sets": "StatefulSet"}


@pytest.mark.parametrize("section", SETS)
@pytest.mark.parametrize(("wanted", "expected"), [(0, {"a"}), (1, {"a"}), (2, set())])
def test_a_set_misses_its_failed_pod_as_long_as_it_lacks_pods(section: str, wanted: int, expected: set[str]) -> None:
    kind = SETS[section]
    owner = {"kind": kind, "spec": {"replicas": wanted}}
    assert left_over(section, owner, a=pod(FAILED, kind), b=pod(RUNS, kind)) == expected


def test_a_daemon_set_misses_its_failed_pod_on_each_node_by_itself() -> None:
    owner = {"status": {"desiredNumberScheduled": 3}}
    pods = {
        "a": pod(FAILED, "DaemonSet"),
        "a-new": pod(RUNS, "DaemonSet"),
        "b": pod(FAILED, "DaemonSet", node="gpu-b"),
    }
    assert left_over("daemon_sets", owner, **pods) == {"a"}


def test_a_job_that_is_done_misses_nothing_and_one_that_failed_misses_all() -> None:
    pods = {"a": pod(FAILED, "Job"), "b": pod(RUNS, "Job", born=NEW)}
    assert left_over("jobs", job(ended=("Complete",)), **pods) == {"a"}
    assert left_over("jobs", job(ended=("Failed",)), **pods) == set()


JOBS: dict[str, tuple[dict[str, dict[str, Any]], set[str]]] = {
    "its newest attempt failed": ({"a": pod(FAILED, "Job"), "b": pod(FAILED, "Job", born=NEW)}, set()),
    "a newer attempt runs": ({"a": pod(FAILED, "Job"), "b": pod(RUNS, "Job", born=NEW)}, {"a"}),
    "a newer attempt is done": ({"a": pod(FAILED, "Job"), "b": pod(DONE, "Job", born=NEW)}, {"a"}),
    "what runs began before it ended": ({"a": pod(FAILED, "Job", born=NEW), "b": pod(RUNS, "Job")}, set()),
    "what runs is of another index": (
        {"a": pod(FAILED, "Job", index="0"), "b": pod(RUNS, "Job", born=NEW, index="1")},
        set(),
    ),
    "attempt after attempt ended by itself": (
        {"a": pod(FAILED, "Job"), "b": pod(FAILED, "Job"), "c": pod(RUNS, "Job", born=NEW)},
        set(),
    ),
    "attempt after attempt was refused": (
        {"a": pod("refused", "Job"), "b": pod("refused", "Job"), "c": pod(RUNS, "Job", born=NEW)},
        {"a", "b"},
    ),
}


@pytest.mark.parametrize(("pods", "expected"), JOBS.values(), ids=JOBS)
def test_a_job_that_still_tries_misses_what_no_newer_pod_stands_for(
    pods: dict[str, dict[str, Any]], expected: set[str]
) -> None:
    assert left_over("jobs", job(), **pods) == expected


@pytest.mark.parametrize("born", [OLD, NEW])
def test_an_owner_that_nobody_read_is_judged_by_its_newer_pods(born: str) -> None:
    pods = {"a": pod(FAILED, "RayCluster"), "b": pod(RUNS, "RayCluster", born=born)}
    assert left_over("", {}, **pods) == {"a"}


def test_thousands_of_failed_pods_of_one_owner_are_judged_at_once() -> None:
    made = {f"default/f{i}": pod(FAILED, "RayCluster") for i in range(2000)}
    made |= {f"default/r{i}": pod(RUNS, "RayCluster", born=NEW) for i in range(50)}
    facts = snapshot({"nodes": {}, "pods": made})
    started = time.process_time()
    assert replaced(facts) == frozenset()
    assert time.process_time() - started < 5


def test_an_owner_of_the_same_name_and_another_uid_says_nothing_of_a_pod() -> None:
    pods = {"a": pod(FAILED, "Job", uid="first")}
    assert left_over("jobs", job(uid="second", ended=("Complete",)), **pods) == set()
    assert left_over("jobs", job(uid="first", ended=("Complete",)), **pods) == {"a"}


def test_a_pod_that_nobody_owns_is_missed() -> None:
    facts = snapshot({"nodes": {}, "pods": {"default/x": {"like": FAILED}, "default/y": {"like": RUNS}}})
    assert replaced(facts) == frozenset()


@pytest.mark.parametrize(("later", "expected"), [(("Complete",), {"a"}), ((), set()), (("Failed",), set())])
def test_a_run_of_a_cron_job_is_past_once_a_later_one_is_done(later: tuple[str, ...], expected: set[str]) -> None:
    cron = [{"kind": "CronJob", "name": "c", "controller": True}]
    first, second = job(uid="1", ended=("Failed",)), job(uid="2", ended=later)
    first["metadata"] |= {"creationTimestamp": OLD, "ownerReferences": cron}
    second["metadata"] |= {"creationTimestamp": NEW, "ownerReferences": cron}
    facts = snapshot(
        {
            "nodes": {},
            "jobs": {"default/o": first, "default/o2": second},
            "pods": {"default/a": pod(FAILED, "Job", uid="1")},
        }
    )
    assert {name for _, name in replaced(facts)} == expected
    assert replaced(facts, later_runs=False) == frozenset()
