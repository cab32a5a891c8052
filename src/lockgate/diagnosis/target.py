"""What is asked about: `pod/x`, `deploy/x`, and what belongs to it in the snapshot."""

import difflib
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from lockgate.model.facts import Missing, Pods, Snapshot
from lockgate.model.objects import DaemonSet, OwnerReference, Resource, Workload, WorkloadSpec

R = TypeVar("R", bound=Resource)

# What may be typed for each kind, as kubectl has it.
ALIASES: dict[str, tuple[str, ...]] = {
    "Pod": ("pod", "pods", "po"),
    "Deployment": ("deployment", "deployments", "deploy"),
    "ReplicaSet": ("replicaset", "replicasets", "rs"),
    "StatefulSet": ("statefulset", "statefulsets", "sts"),
    "DaemonSet": ("daemonset", "daemonsets", "ds"),
    "Job": ("job", "jobs"),
    "Node": ("node", "nodes", "no"),
    "Operand": ("operand", "operands"),
}
SECTION_OF: dict[str, str] = {
    "Deployment": "deployments",
    "ReplicaSet": "replica_sets",
    "StatefulSet": "stateful_sets",
    "DaemonSet": "daemon_sets",
    "Job": "jobs",
}
EXPECTED = "pod/NAME, deploy/NAME, rs/NAME, sts/NAME, ds/NAME, job/NAME, node/NAME, operand/NAME or a pod's name"
CLUSTER = "Cluster"  # nothing was named: what is wrong anywhere
WIDE = (CLUSTER, "Node", "Operand")  # no workload, but what many of them stand on
_KIND_OF = {alias: kind for kind, aliases in ALIASES.items() for alias in aliases}


class Target(msgspec.Struct, frozen=True):
    """One object to ask about; `namespace` empty means: wherever it is, if there is only one."""

    kind: str
    name: str
    namespace: str = ""

    @property
    def text(self) -> str:
        """As a person would type it."""
        if self.kind == CLUSTER:
            return "the cluster"
        return f"{ALIASES[self.kind][0]}/{self.name}"


class TargetError(ValueError):
    """What was typed names nothing that can be asked about."""


class TargetMissingError(LookupError):
    """The target is not among the facts; the text says what is, and `near` holds names that come close."""

    def __init__(self, text: str, near: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.near = near


class Found(msgspec.Struct, frozen=True):
    """The target's own object (None for a bare pod), the controllers below it, and its pods, newest first."""

    target: Target
    workload: Workload | None
    controllers: tuple[Workload, ...]
    pods: Pods


def parse_target(text: str, namespace: str = "") -> Target:
    """`pod/x`, `node/x`, `namespace/kind/name`, a bare name, which is a pod, or "", which is the whole cluster.

    Raises TargetError for anything else.
    """
    if not text:
        return Target(CLUSTER, "")
    parts = text.split("/")
    if len(parts) == 3:
        namespace, parts = parts[0], parts[1:]
    if len(parts) > 2 or not all(parts):
        raise TargetError(f'"{text}" is no target: expected {EXPECTED}')
    kind, name = ("pod", parts[0]) if len(parts) == 1 else parts
    if kind.lower() not in _KIND_OF:
        raise TargetError(_unknown_kind(kind))
    return Target(_KIND_OF[kind.lower()], name, namespace)


def _unknown_kind(kind: str) -> str:
    near = difflib.get_close_matches(kind.lower(), _KIND_OF, n=1)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    return f'"{kind}" is not a kind that can be asked about (pod, deploy, rs, sts, ds, job, node, operand){hint}'


def find(snapshot: Snapshot, target: Target) -> Found:
    """Everything of the snapshot that belongs to the target; TargetMissingError when it is not among the facts."""
    if target.kind == "Pod":
        pod = _one(snapshot.known_pods, target, _all_known(snapshot))
        return Found(_placed(target, pod), None, (), (pod,))
    section = getattr(snapshot, SECTION_OF[target.kind])
    if isinstance(section, Missing):
        raise TargetMissingError(
            f"{target.text} cannot be looked up: {SECTION_OF[target.kind]} are missing ({section.reason})"
        )
    found = _one(section, target, True)
    workload = _as_workload(found, target.kind)
    controllers = _controllers(snapshot, workload)
    return Found(_placed(target, found), workload, controllers, _pods_of(snapshot, (workload, *controllers)))


def _placed(target: Target, found: Resource) -> Target:
    return msgspec.structs.replace(target, namespace=found.namespace)


def _all_known(snapshot: Snapshot) -> bool:
    return not (isinstance(snapshot.pods, Missing) and isinstance(snapshot.namespace_pods, Missing))


def _one(candidates: Iterable[R], target: Target, known: bool) -> R:
    candidates = tuple(candidates)
    here = [c for c in candidates if not target.namespace or c.namespace in ("", target.namespace)]
    matching = [c for c in here if c.name == target.name]
    if len(matching) == 1:
        return matching[0]
    if matching:
        spaces = ", ".join(sorted(c.namespace for c in matching))
        raise TargetMissingError(f"{target.text} exists in several namespaces ({spaces}): choose one with -n")
    if not known:
        raise TargetMissingError(f"{target.text} cannot be looked up: no pods are among the facts")
    raise _not_there(target, [c.name for c in here], [c for c in candidates if c.name == target.name])


def _not_there(target: Target, present: list[str], elsewhere: list[R]) -> TargetMissingError:
    where = f" in namespace {target.namespace}" if target.namespace else ""
    near = tuple(difflib.get_close_matches(target.name, sorted(set(present)), n=3))
    spaces = ", ".join(sorted({e.namespace for e in elsewhere}))
    hint = f"; it exists in namespace {spaces}" if elsewhere else f"; did you mean {' or '.join(near)}?" if near else ""
    return TargetMissingError(f"{target.text} is not there{where}{hint}", near)


def _as_workload(found: Resource, kind: str) -> Workload:
    if isinstance(found, Workload):
        return found if found.kind else msgspec.structs.replace(found, kind=kind)
    assert isinstance(found, DaemonSet)  # the only other kind of SECTION_OF
    spec = WorkloadSpec(
        replicas=found.status.desired_number_scheduled, selector=found.spec.selector, template=found.spec.template
    )
    return Workload(metadata=found.metadata, kind=kind, spec=spec)


def _controllers(snapshot: Snapshot, workload: Workload) -> tuple[Workload, ...]:
    """The ReplicaSets of a Deployment, the newest first; other kinds own their pods themselves."""
    if workload.kind != "Deployment" or isinstance(snapshot.replica_sets, Missing):
        return ()
    owned = [rs for rs in snapshot.replica_sets if owns(workload, rs)]
    return tuple(sorted(owned, key=lambda rs: (str(rs.metadata.creation_timestamp), rs.name), reverse=True))


def _pods_of(snapshot: Snapshot, owners: tuple[Workload, ...]) -> Pods:
    owned = [p for p in snapshot.known_pods if any(owns(owner, p) for owner in owners)]
    return tuple(sorted(owned, key=lambda p: (str(p.metadata.creation_timestamp), p.name), reverse=True))


def owns(owner: Workload, child: Resource) -> bool:
    """Whether `child` names `owner` among its owners, by uid where both have one, else by kind and name."""
    return owner.namespace == child.namespace and any(
        _is(reference, owner) for reference in child.metadata.owner_references
    )


def _is(reference: OwnerReference, owner: Workload) -> bool:
    if reference.uid and owner.metadata.uid:
        return reference.uid == owner.metadata.uid
    return reference.kind == owner.kind and reference.name == owner.name
