"""Owners of pods: the workloads that sections hold, objects of any other kind, and all that they own, at any depth."""

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar

import msgspec

from lockgate.model.facts import BY_KIND, Missing, Pods, Snapshot
from lockgate.model.objects import CronJob, DaemonSet, Pod, Resource, Workload, WorkloadSpec, WorkloadStatus

R = TypeVar("R", bound=Resource)

SECTION_OF: Final[dict[str, str]] = {
    kind: BY_KIND[kind].section for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob")
}
# The order in which owners of pods are looked through; a level below another may stand anywhere.
OWNERS: Final = (*SECTION_OF.values(), "custom_owners")


def as_workload(found: Resource, kind: str) -> Workload:
    """An object of a section as the one type that rules know; API lists leave out the kind of their items."""
    match found:
        case Workload():
            return found if found.kind else msgspec.structs.replace(found, kind=kind)
        case CronJob():
            own = found.spec
            spec = WorkloadSpec(suspend=own.suspend, template=own.job_template.spec.template)
        case DaemonSet():
            desired = found.status.desired_number_scheduled
            spec = WorkloadSpec(replicas=desired, selector=found.spec.selector, template=found.spec.template)
            status = WorkloadStatus(replicas=found.status.current_number_scheduled)
            return Workload(metadata=found.metadata, kind=kind, spec=spec, status=status)
        case _:
            raise TypeError(f"{type(found).__name__} is no kind of SECTION_OF")
    return Workload(metadata=found.metadata, kind=kind, spec=spec)


def children(snapshot: Snapshot) -> Iterator[Resource]:
    """Everything that may have an owner."""
    for section in OWNERS:
        yield from section_of(snapshot, section)
    yield from snapshot.known_pods


def section_of(snapshot: Snapshot, section: str) -> tuple[Any, ...]:
    """A section's objects, none where it is missing."""
    objects: Any = getattr(snapshot, section)
    return () if isinstance(objects, Missing) else objects


def below(snapshot: Snapshot, top: Workload) -> tuple[tuple[Workload, ...], Pods]:
    """The controllers between an owner and its pods, and the pods; of both the newest first."""
    left = list(_owned_in(snapshot, top.namespace))
    found: list[Resource] = []
    owners: list[Resource] = [top]
    while owners:
        known = _Owners(owners)
        owners = [child for child in left if known.own(child)]
        left = [child for child in left if not known.own(child)]
        found += owners
    controllers = _newest(f for f in found if isinstance(f, Workload))
    return tuple(controllers), tuple(_newest(f for f in found if isinstance(f, Pod)))


def _owned_in(snapshot: Snapshot, namespace: str) -> Iterator[Resource]:
    """What has an owner in a namespace, each controller with its kind, which API lists leave out."""
    kinds = {section: kind for kind, section in SECTION_OF.items()}
    for section in OWNERS:
        here = (o for o in section_of(snapshot, section) if o.namespace == namespace and o.metadata.owner_references)
        yield from (as_workload(o, kinds.get(section, "")) for o in here)
    yield from (p for p in snapshot.known_pods if p.namespace == namespace and p.metadata.owner_references)


class _Owners:
    """Owners of one level. A pod may own too: the leader of a group owns the StatefulSet of its workers."""

    def __init__(self, owners: Iterable[Resource]) -> None:
        named = [(o.kind if isinstance(o, Workload) else "Pod", o) for o in owners]
        self._uids = {o.metadata.uid for _, o in named if o.metadata.uid}
        self._names = {(kind, o.name) for kind, o in named}
        self._without_uid = {(kind, o.name) for kind, o in named if not o.metadata.uid}

    def own(self, child: Resource) -> bool:
        """Whether a child names one of them, by uid where both have one, else by kind and name."""
        return any(
            r.uid in self._uids or (r.kind, r.name) in (self._without_uid if r.uid else self._names)
            for r in child.metadata.owner_references
        )


def _newest(found: Iterable[R]) -> list[R]:
    return sorted(found, key=lambda f: (str(f.metadata.creation_timestamp), f.name), reverse=True)
