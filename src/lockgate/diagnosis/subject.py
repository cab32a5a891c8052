"""One thing that rules are asked about (a pod, a workload that lacks pods, a node, ...) and the facts for them."""

from collections.abc import Callable, Set
from functools import cache
from typing import Any

import msgspec

from lockgate.diagnosis.rule import Need, needs_of
from lockgate.diagnosis.stage import Stage, is_ready, stage_of
from lockgate.diagnosis.target import Found
from lockgate.diagnosis.views import VIEWS
from lockgate.diagnosis.views.gate_one import GateOne, gpu_asked
from lockgate.model.facts import SECTIONS, Missing, Pods, Snapshot
from lockgate.model.objects import DaemonSet, Node, Pod, Workload

# A workload's pods are usually sick in the same way; this many of them are looked at.
_MOST_PODS = 20
# What has ended, and wants nothing.
_PAST = (Stage.SUCCEEDED, Stage.REPLACED)
# Kinds whose status counts pods of their own.
MAKERS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")
_NO_POD = Missing("there is no pod")
_NO_WORKLOAD = Missing("the target is a bare pod")
_NO_NODE = Missing("no node is asked about")
_NO_OPERAND = Missing("no operand is asked about")


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule is asked about, and at which stage it is; `pod` is None where the workload lacks one.

    At the stages of a node and of the cluster `pod` is a probe (see `probe`), and `gate` its own gate 1.
    `alike` names pods that are like this one in everything a rule reads, so that it speaks for them. `replaced` are the
    failed pods that nobody misses, of the subject that stands for them.
    """

    stage: Stage
    pod: Pod | None = None
    workload: Workload | None = None
    controllers: tuple[Workload, ...] = ()
    node: Node | None = None
    operand: DaemonSet | None = None
    gate: GateOne | None = None
    alike: tuple[str, ...] = ()
    replaced: Pods = ()

    @property
    def asks_gpu(self) -> bool:
        """Whether its pod, or the pod that its template would make, asks for a GPU."""
        spec = self.pod or (self.workload and Pod(spec=self.workload.spec.template.spec))
        return bool(spec and gpu_asked(spec))

    @property
    def well(self) -> bool:
        """Whether it does what was asked of it, as far as its own status tells."""
        running = self.stage is Stage.RUNNING and self.pod is not None and is_ready(self.pod)
        return running or self.stage in _PAST or self._waits_for_its_time or self.has_finished or self.wants_none

    @property
    def has_finished(self) -> bool:
        """Whether it is a Job that has done all of its work, and whose pods may be gone."""
        return self.stage is Stage.NO_POD and self.workload is not None and ended_as(self.workload, "Complete")

    @property
    def wants_none(self) -> bool:
        """Whether somebody chose that it has no pods: it is scaled to 0, or suspended."""
        chosen = self.workload.spec if self.stage is Stage.NO_POD and self.workload is not None else None
        return chosen is not None and (chosen.replicas == 0 or bool(chosen.suspend))

    @property
    def _waits_for_its_time(self) -> bool:
        """Whether it is a CronJob between two runs."""
        between = self.stage is Stage.NO_POD and self.workload is not None and self.workload.kind == "CronJob"
        return between and not self.workload.spec.suspend  # type: ignore[union-attr]


def subjects(found: Found, gone: Set[tuple[str, str]] = frozenset()) -> tuple[Subject, ...]:
    """The pods that are not well (the newest first), and the workload itself where pods are lacking.

    Where all is well one pod speaks for all. Pods that are `gone` are failed ones that nobody misses.
    """
    of_pods = [_subject(found, stage_of(pod), pod) for pod in found.pods if (pod.namespace, pod.name) not in gone]
    sick = [s for s in of_pods if not s.well][:_MOST_PODS]
    lacking = _lacking(found)
    return tuple(lacking + sick) or tuple(of_pods[:1]) or (_subject(found, Stage.NO_POD, None),)


def wanted(workload: Workload) -> int:
    """How many pods a workload wants at once now; a Job that has ended wants none.

    What leaves its pods to other controllers (a CronJob to its Jobs, a custom owner) wants one, until it is suspended.
    """
    if workload.spec.suspend:
        return 0
    if workload.kind != "Job":
        return 1 if workload.spec.replicas is None else workload.spec.replicas
    if ended_as(workload, "Complete", "Failed"):
        return 0
    left = max((workload.spec.completions or 1) - workload.status.succeeded, 0)
    return min(1 if workload.spec.parallelism is None else workload.spec.parallelism, left)


def ended_as(job: Workload, *conditions: str) -> bool:
    """Whether a Job has ended in one of these ways: `Complete`, `Failed`."""
    return any(c.type in conditions and c.status == "True" for c in job.status.conditions)


def is_short(workload: Workload) -> bool:
    """Whether fewer pods were made than it wants, by its own status."""
    made = workload.status.active if workload.kind == "Job" else workload.status.replicas
    return made < wanted(workload)


def _lacking(found: Found) -> list[Subject]:
    """The workload where pods are lacking; of what leaves its pods to others, those others."""
    if found.workload is None:
        return []
    if found.workload.kind in MAKERS:
        return [_subject(found, Stage.NO_POD, None)] if _lacks_pods(found, found.workload) else []
    short = [c for c in found.controllers if c.kind in MAKERS and is_short(c)]
    return [Subject(stage=Stage.NO_POD, workload=c) for c in short[:_MOST_PODS]]


def _lacks_pods(found: Found, workload: Workload) -> bool:
    alive = sum(
        stage_of(p) not in (Stage.FAILED, Stage.ADMISSION, Stage.SUCCEEDED, Stage.TERMINATING) for p in found.pods
    )
    return alive < wanted(workload)


def _subject(found: Found, stage: Stage, pod: Pod | None) -> Subject:
    return Subject(stage=stage, pod=pod, workload=found.workload, controllers=found.controllers)


class Common:
    """The facts that are the same whatever is asked about: sections, and views of sections alone, each made once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.known: dict[str, Any] = {"snapshot": snapshot}

    def get(self, name: str) -> Any:
        """Such a fact by its name, or Missing."""
        if name not in self.known:
            self.known[name] = self._section(name) if name in SECTIONS else _viewed(VIEWS[name], self)
        return self.known[name]

    def _section(self, name: str) -> Any:
        value = getattr(self.snapshot, name)
        if not isinstance(value, Missing):
            return value
        return msgspec.structs.replace(value, reason=f"{name.replace('_', ' ')}: {value.reason}")


class Facts:
    """The facts as the rules of one subject see them: what is common to all, the subject's parts, and views of these.

    Each view is made once.
    """

    def __init__(self, snapshot: Snapshot, subject: Subject, common: Common | None = None) -> None:
        self._common = common or Common(snapshot)
        self.known: dict[str, Any] = self._common.known | {
            "pod": subject.pod or _NO_POD,
            "workload": subject.workload or _NO_WORKLOAD,
            "controllers": subject.controllers,
            "narrowing": snapshot.narrowing,
            "stage": subject.stage,
            "node": subject.node or _NO_NODE,
            "replaced": subject.replaced,
            "operand": subject.operand or _NO_OPERAND,
        }
        if subject.gate is not None:
            self.known["gate_one"] = subject.gate

    def get(self, name: str) -> Any:
        """A fact by its name, or Missing; a name that nobody knows is a bug of the rule."""
        if name not in self.known:
            self.known[name] = self._common.get(name) if is_common(name) else _viewed(VIEWS[name], self)
        return self.known[name]


def arguments(needs: tuple[Need, ...], facts: Common | Facts) -> tuple[Any, ...] | Missing:
    """What a rule or view is given for what it needs, or the first Missing that it cannot do without."""
    given, known = [], facts.known
    for name, optional in needs:
        value = known[name] if name in known else facts.get(name)
        if type(value) is Missing and not optional:
            return value
        given.append(value)
    return tuple(given)


def _viewed(view: Callable[..., Any], facts: Common | Facts) -> Any:
    given = arguments(needs_of(view), facts)
    return given if isinstance(given, Missing) else view(*given)


@cache
def sections_read(needs: tuple[Need, ...]) -> tuple[str, ...]:
    """The sections that a rule reads, through its views also, without those that rules read as a whole."""
    names = (need.name for need in needs)
    through = (
        (name,) if name in SECTIONS else sections_read(needs_of(VIEWS[name])) if name in VIEWS else () for name in names
    )
    return tuple(dict.fromkeys(name for group in through for name in group))


@cache
def is_common(name: str) -> bool:
    """Whether a fact is the same whatever is asked about: a section, or a view of such facts alone."""
    if name in VIEWS:
        return all(is_common(need.name) for need in needs_of(VIEWS[name]))
    return name in SECTIONS or name == "snapshot"
