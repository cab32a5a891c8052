"""Pods that failed and that nobody misses: their owner has all of its pods, is done, or a newer pod stands for each.

Controllers leave failed pods behind, thousands of them: kube-controller-manager takes them away above 12500
(`--terminated-pod-gc-threshold`). What such a pod died of says nothing of now. Each is judged by the owner that made
it; what no owner made, or what its owner still tries, is nobody's leftover.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from lockgate.diagnosis.owners import SECTION_OF, as_workload, section_of
from lockgate.diagnosis.stage import Stage, is_ready, stage_of, was_refused
from lockgate.diagnosis.subject import ended_as, wanted
from lockgate.model.facts import Snapshot
from lockgate.model.objects import OwnerReference, Pod, Resource, Workload

Place = tuple[str, str]  # namespace and name of a pod
_Key = tuple[str, ...]  # an owner: by uid where it is told, else by namespace, kind and name
_COUNTING: Final = ("ReplicaSet", "StatefulSet", "DaemonSet", "Deployment")
_BY_ITSELF: Final = 2  # attempts that ended by themselves: the next one may end so too


def replaced(snapshot: Snapshot, *, later_runs: bool = True) -> frozenset[Place]:
    """The failed pods that are no fault of now; `later_runs`: a CronJob's failed run is past once a later one is done.

    Pods are looked through once, and their owners only where a pod has failed.
    """
    known = snapshot.known_pods
    makers = {_key(p): p for p in known if p.status.phase == "Failed" and _maker(p)}
    if not makers:
        return frozenset()
    made: dict[_Key, list[Pod]] = defaultdict(list)
    for pod in known:
        if pod.metadata.owner_references and (key := _key(pod)) in makers:
            made[key].append(pod)
    owners = _owners(snapshot, makers.values())
    past = _past_runs(snapshot, owners.values()) if later_runs else frozenset()
    return frozenset(
        (pod.namespace, pod.name)
        for key in makers
        for pod in _left_over(owners.get(key), made[key], is_past=key in past)
    )


def _left_over(owner: Workload | None, made: Sequence[Pod], *, is_past: bool) -> Iterable[Pod]:
    """Of what one owner made, the failed pods that nobody misses."""
    failed = [p for p in made if p.status.phase == "Failed"]
    if is_past or _has_all(owner, made):
        return failed
    if _kind(owner, failed) == "DaemonSet":
        served = {o.spec.node_name for o in made if _runs(o)} - {""}
        return (p for p in failed if p.spec.node_name in served)
    if owner is not None and owner.kind in _COUNTING:
        return ()
    if owner is not None and ended_as(owner, "Failed"):
        return ()
    return (p for alike in _by_labels(made) for p in _followed(alike))


def _kind(owner: Workload | None, failed: Sequence[Pod]) -> str:
    """The kind of an owner, by its pods where it was not read."""
    made_by = owner or next((m for p in failed if (m := _maker(p))), None)
    return made_by.kind if made_by else ""


def _has_all(owner: Workload | None, made: Sequence[Pod]) -> bool:
    """Whether an owner wants no more pods than it has; unknown of one that was not read, or that tells no number."""
    if owner is None:
        return False
    if owner.kind == "Job":
        return ended_as(owner, "Complete")
    return owner.kind in _COUNTING and sum(map(_runs, made)) >= wanted(owner)


def _by_labels(made: Iterable[Pod]) -> Iterable[Sequence[Pod]]:
    alike: dict[frozenset[tuple[str, str]], list[Pod]] = defaultdict(list)
    for pod in made:
        alike[frozenset(pod.metadata.labels.items())].append(pod)
    return alike.values()


def _followed(alike: Sequence[Pod]) -> Iterable[Pod]:
    """Of pods with the same labels, the failed ones after whose end one was made that does well."""
    failed = [p for p in alike if p.status.phase == "Failed"]
    again = _fails_again(failed)
    well = (p for p in alike if p.status.phase == "Succeeded" or (not again and _runs(p)))
    last = max((born for p in well if (born := p.metadata.creation_timestamp)), default=None)
    return (p for p in failed if last is not None and (end := _end(p)) is not None and end <= last)


def _fails_again(failed: Iterable[Pod]) -> bool:
    """Whether one attempt after the other ended by itself; what the kubelet refuses or evicts did not."""
    return sum(p.status.reason != "Evicted" and not was_refused(p) for p in failed) >= _BY_ITSELF


def _runs(pod: Pod) -> bool:
    return stage_of(pod) is Stage.RUNNING and is_ready(pod)


def _end(pod: Pod) -> dt.datetime | None:
    """When a failed pod ended, as far as its status tells: the last that happened to it."""
    ended = (s.state.terminated.finished_at for s in pod.status.container_statuses if s.state.terminated)
    changed = (c.last_transition_time for c in pod.status.conditions)
    return max((t for t in (pod.metadata.creation_timestamp, *ended, *changed) if t is not None), default=None)


# --- owners


def _maker(child: Resource) -> OwnerReference | None:
    return next((o for o in child.metadata.owner_references if o.controller), None)


def _key(child: Resource) -> _Key:
    maker = _maker(child)
    if maker is None:
        return ()
    return (maker.uid,) if maker.uid else (child.namespace, maker.kind, maker.name)


def _owners(snapshot: Snapshot, pods: Iterable[Pod]) -> dict[_Key, Workload]:
    """The makers of pods that sections hold; one of another uid and the same name is another one."""
    sought = {(p.namespace, maker.kind, maker.name): _key(p) for p in pods if (maker := _maker(p))}
    found = {}
    for kind in {kind for _, kind, _ in sought} & set(SECTION_OF):
        for each in section_of(snapshot, SECTION_OF[kind]):
            key = sought.get((each.namespace, kind, each.name))
            if key and (not each.metadata.uid or len(key) > 1 or key == (each.metadata.uid,)):
                found[key] = as_workload(each, kind)
    return found


def _past_runs(snapshot: Snapshot, owners: Iterable[Workload]) -> frozenset[_Key]:
    """The Jobs of CronJobs after which a later run was done."""
    runs = [owner for owner in owners if owner.kind == "Job" and _is_run(owner)]
    if not runs:
        return frozenset()
    done: dict[_Key, dt.datetime] = {}
    for job in section_of(snapshot, "jobs"):
        born = job.metadata.creation_timestamp
        if born and _is_run(job) and ended_as(job, "Complete"):
            done[_key(job)] = max(born, done.get(_key(job), born))
    return frozenset(key for run in runs if _is_before(run, done.get(_key(run))) for key in _called(run))


def _is_run(job: Workload) -> bool:
    maker = _maker(job)
    return maker is not None and maker.kind == "CronJob"


def _is_before(run: Workload, later: dt.datetime | None) -> bool:
    born = run.metadata.creation_timestamp
    return born is not None and later is not None and born < later


def _called(owner: Workload) -> tuple[_Key, ...]:
    """How its pods may name it."""
    return (owner.metadata.uid,), (owner.namespace, owner.kind, owner.name)
