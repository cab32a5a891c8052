"""What is not well, as subjects: pods, one for all that wait for one reason, and workloads that lack pods."""

from collections.abc import Iterable

import msgspec

from lockgate.diagnosis.never_admitted import never_admitted
from lockgate.diagnosis.owners import SECTION_OF
from lockgate.diagnosis.stage import Stage, stage_of
from lockgate.diagnosis.subject import MAKERS, Subject, is_short, subjects
from lockgate.diagnosis.target import Found, Target, find
from lockgate.diagnosis.views.gate_one import gpu_asked
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.objects import Pod, Workload

# Labels that tell the pods of one controller apart.
_OF_ONE_POD = (
    "apps.kubernetes.io/pod-index",
    "statefulset.kubernetes.io/pod-name",
    "batch.kubernetes.io/job-completion-index",
)
# Sections of what makes pods.
OWNING = ("deployments", "replica_sets", "stateful_sets", "jobs")


def sick(pods: Iterable[Pod]) -> tuple[Subject, ...]:
    """The pods that are not well, and are not being deleted."""
    about = (Subject(stage=stage_of(pod), pod=pod) for pod in pods)
    return tuple(s for s in about if not s.well and s.stage is not Stage.TERMINATING)


def by_kind(sick: Iterable[Subject]) -> tuple[Subject, ...]:
    """One subject for all waiting pods of one namespace, spec and labels: a Job's thousand pods wait for one reason."""
    first: dict[object, Subject] = {}
    alike: dict[object, list[str]] = {}
    for subject in sick:
        key = _kind(subject)
        if first.setdefault(key, subject) is not subject and subject.pod is not None:
            alike.setdefault(key, []).append(f"{subject.pod.namespace}/{subject.pod.name}")
    return tuple(msgspec.structs.replace(s, alike=tuple(alike.get(key, ()))) for key, s in first.items())


def _kind(subject: Subject) -> object:
    pod = subject.pod
    if pod is None or subject.stage is not Stage.SCHEDULING:
        return id(subject)
    labels = {k: v for k, v in pod.metadata.labels.items() if k not in _OF_ONE_POD}
    claims = tuple(v.name for v in pod.spec.volumes if v.ephemeral)
    return pod.namespace, pod.name if claims else "", msgspec.json.encode((pod.spec, labels), order="deterministic")


def lacking(snapshot: Snapshot, namespace: str = "") -> tuple[Subject, ...]:
    """Workloads that ask for GPUs and lack pods: what refuses their pods is told nowhere else."""
    named = {section: kind for kind, section in SECTION_OF.items()}
    hopeless = never_admitted(snapshot.queued_workloads)
    found = []
    for section in OWNING:
        workloads = getattr(snapshot, section)
        for each in () if isinstance(workloads, Missing) else workloads:
            held = (named[section], each.namespace, each.name) in hopeless
            if namespace in ("", each.namespace) and (_is_lacking(each) or (held and _asks_gpu(each))):
                target = Target(named[section], each.name, each.namespace)
                found.append(_without_pods(find(snapshot, target)))
    return tuple(s for s in found if s is not None)


def _is_lacking(workload: Workload) -> bool:
    """By its own status, which is told without looking at all pods; one that another maker owns is told with that."""
    if any(o.controller and o.kind in MAKERS for o in workload.metadata.owner_references):
        return False
    return is_short(workload) and _asks_gpu(workload)


def _asks_gpu(workload: Workload) -> bool:
    return bool(gpu_asked(Pod(spec=workload.spec.template.spec)))


def _without_pods(found: Found) -> Subject | None:
    return next((s for s in subjects(found) if s.stage is Stage.NO_POD), None)
