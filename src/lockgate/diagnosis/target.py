"""What is asked about: `pod/x`, `deploy/x`, and what belongs to it in the snapshot."""

import difflib
import re
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from lockgate.diagnosis.owners import OWNERS, SECTION_OF, as_workload, below, children, section_of
from lockgate.kit.near import did_you_mean, near
from lockgate.model.facts import NOT_COLLECTED, Missing, Pods, Snapshot
from lockgate.model.objects import DaemonSet, Metadata, Pod, Resource, Workload
from lockgate.model.told import Part, is_unseen

R = TypeVar("R", bound=Resource)

# What may be typed for each kind, as kubectl has it.
ALIASES: dict[str, tuple[str, ...]] = {
    "Pod": ("pod", "pods", "po"),
    "Deployment": ("deployment", "deployments", "deploy"),
    "ReplicaSet": ("replicaset", "replicasets", "rs"),
    "StatefulSet": ("statefulset", "statefulsets", "sts"),
    "DaemonSet": ("daemonset", "daemonsets", "ds"),
    "Job": ("job", "jobs"),
    "CronJob": ("cronjob", "cronjobs", "cj"),
    "Namespace": ("namespace", "namespaces", "ns"),
    "Node": ("node", "nodes", "no"),
    "Operand": ("operand", "operands"),
}
EXPECTED = (
    "pod/NAME, deploy/NAME, rs/NAME, sts/NAME, ds/NAME, job/NAME, cronjob/NAME, another owner's KIND/NAME, "
    "namespace/NAME, node/NAME, operand/NAME or a pod's name"
)
CLUSTER = "Cluster"  # nothing was named: what is wrong anywhere
SELECTED = "Pods"  # pods by their labels: the name is a label selector
TOLD = "Objects"  # all that files tell of which hold no cluster: the name says which files
WIDE = (CLUSTER, SELECTED, TOLD, "Namespace", "Node", "Operand")  # no workload, but what many of them stand on
_KIND = re.compile(r"[a-z][a-z0-9]*(\.[a-z0-9-]+)*")
# How near a kind comes to a known one: a slip of the finger (`deplyo`), or merely like it (`tfjob` and `job`).
_SLIP, _LIKE = 0.82, 0.6
_KIND_OF = {alias: kind for kind, aliases in ALIASES.items() for alias in aliases}


class Target(msgspec.Struct, frozen=True):
    """One object to ask about; `namespace` empty means: wherever it is, if there is only one.

    A kind that no alias names is kept as it was typed, in lower case: the kind, plural or short name of a custom owner.
    """

    kind: str
    name: str
    namespace: str = ""

    @property
    def text(self) -> str:
        """As a person would type it."""
        if self.kind == CLUSTER:
            return "the cluster"
        if self.kind == SELECTED:
            return f"pods with {self.name}"
        if self.kind == TOLD:
            return self.name
        return f"{ALIASES.get(self.kind, (self.kind.lower(),))[0]}/{self.name}"

    @property
    def is_custom(self) -> bool:
        """Whether its kind is none that a section holds."""
        return self.kind not in (CLUSTER, SELECTED, TOLD, *ALIASES)


class TargetError(ValueError):
    """What was typed names nothing that can be asked about."""


class TargetMissingError(LookupError):
    """The target is not among the facts; the text says what is, and `near` holds names that come close."""

    def __init__(self, text: str, near: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.near = near


class UnreadTargetError(TargetMissingError):
    """What is needed to look the target up was not read; the text says what, why, and how to get it."""


def alone(snapshot: Snapshot, namespace: str = "") -> tuple[Target, ...]:
    """What facts without nodes can be asked about, as a description or a manifest has it: what no other of them owns.

    Of a list of events that is what a Warning is about: most of what stands in one is well.
    """
    every = _owned_or_not(snapshot)
    tops = [Target(kind, each.name, each.namespace) for kind, each in _unowned(every)]
    here = [top for top in tops if namespace in ("", top.namespace)]
    quiet = {(kind, each.namespace, each.name) for kind, each in every if _is_only_heard(each)}
    quiet -= _warned(snapshot)
    return tuple(top for top in here if (top.kind, top.namespace, top.name) not in quiet) or tuple(here)


def _unowned(every: list[tuple[str, Resource]]) -> list[tuple[str, Resource]]:
    there = {(kind.lower(), each.namespace, each.name) for kind, each in every}
    return [
        (kind, each)
        for kind, each in every
        if not any((o.kind.lower(), each.namespace, o.name) in there for o in each.metadata.owner_references)
    ]


def _owned_or_not(snapshot: Snapshot) -> list[tuple[str, Resource]]:
    """Every workload and pod with its kind as a target has it."""
    kinds = {section: kind for kind, section in SECTION_OF.items()}
    owners = [(section, each) for section in OWNERS for each in section_of(snapshot, section)]
    named = [(kinds.get(section) or str(each.kind).lower(), each) for section, each in owners]
    return [*named, *(("Pod", pod) for pod in snapshot.known_pods)]


def _is_only_heard(found: Resource) -> bool:
    """Whether nothing but events tells of an object."""
    if isinstance(found, Pod):
        return is_unseen(found, Part.SPEC)
    return isinstance(found, DaemonSet | Workload) and not found.spec.template.spec.containers


def _warned(snapshot: Snapshot) -> set[tuple[str, str, str]]:
    events = () if isinstance(snapshot.events, Missing) else snapshot.events
    about = (e.involved_object for e in events if e.type == "Warning")
    return {(ref.kind, ref.namespace, ref.name) for ref in about}


class Found(msgspec.Struct, frozen=True):
    """The target's own object (None for a bare pod), the controllers below it, and its pods, newest first."""

    target: Target
    workload: Workload | None
    controllers: tuple[Workload, ...]
    pods: Pods


def parse_target(text: str, namespace: str = "") -> Target:
    """`pod/x`, `node/x`, `namespace/kind/name`, a bare name, which is a pod, or "", which is the whole cluster.

    A kind that is not known here may be that of a custom owner (`pytorchjob/x`, `jobsets.jobset.x-k8s.io/x`). Raises
    TargetError for what is none of these.
    """
    if not text:
        return Target(CLUSTER, "")
    parts = text.split("/")
    if len(parts) == 3:
        namespace, parts = parts[0], parts[1:]
    if len(parts) > 2 or not all(parts):
        raise TargetError(f'"{text}" is no target: expected {EXPECTED}')
    kind, name = ("pod", parts[0]) if len(parts) == 1 else parts
    slip = "" if kind.lower() in _KIND_OF else _near_kind(kind, _SLIP)
    if slip or not _KIND.fullmatch(kind.lower()):
        raise TargetError(f'"{kind}" is not a kind that can be asked about{slip or f": expected {EXPECTED}"}')
    return Target(_KIND_OF.get(kind.lower(), kind.lower()), name, namespace)


def _near_kind(kind: str, nearness: float) -> str:
    """A hint at the known kind that comes near what was typed; "" where none does."""
    near = difflib.get_close_matches(kind.lower(), _KIND_OF, n=1, cutoff=nearness)
    return f'; did you mean "{near[0]}"?' if near else ""


def find(snapshot: Snapshot, target: Target) -> Found:
    """Everything of the snapshot that belongs to the target; TargetMissingError when it is not among the facts."""
    if target.kind == "Pod":
        pod = _one(snapshot.known_pods, target, _all_known(snapshot))
        return Found(_placed(target, pod), None, (), (pod,))
    workload = _custom(snapshot, target) if target.is_custom else _known(snapshot, target)
    controllers, pods = below(snapshot, workload)
    placed = _placed(target, workload)
    if target.is_custom:
        placed = msgspec.structs.replace(placed, kind=workload.kind)
    return Found(placed, workload, controllers, pods)


def _known(snapshot: Snapshot, target: Target) -> Workload:
    section = getattr(snapshot, SECTION_OF[target.kind])
    if isinstance(section, Missing):
        raise TargetMissingError(
            f"{target.text} cannot be looked up: {SECTION_OF[target.kind]} are missing ({section.reason})"
        )
    return as_workload(_one(section, target, True), target.kind)


def _custom(snapshot: Snapshot, target: Target) -> Workload:
    """The custom owner itself, or what its pods and workloads say of it; its kind may have been typed in any way."""
    objects = snapshot.custom_owners
    known = () if isinstance(objects, Missing) else objects
    # A short name (`ptj`) is known to the cluster alone, which then gave the object itself.
    there = [o for o in known if _is_called(o.kind, target.kind)] or [o for o in known if o.name == target.name]
    if there:
        return _one(there, target, True)
    named = _referred(snapshot, target)
    if named is not None:
        return named
    unseen = "no pod or workload among the facts names it as its owner"
    reason = objects.reason if isinstance(objects, Missing) and objects != NOT_COLLECTED else unseen
    raise TargetMissingError(f"{target.text} is not there: {reason}{_near_kind(target.kind, _LIKE)}")


def _referred(snapshot: Snapshot, target: Target) -> Workload | None:
    for child in children(snapshot):
        for reference in child.metadata.owner_references:
            here = not target.namespace or child.namespace == target.namespace
            if here and reference.name == target.name and _is_called(reference.kind, target.kind):
                metadata = Metadata(name=target.name, namespace=child.namespace, uid=reference.uid)
                return Workload(metadata=metadata, kind=reference.kind)
    return None


def _is_called(kind: str, typed: str) -> bool:
    """Whether a kind may have been typed so: `JobSet` as `jobset`, `jobsets`, `jobsets.jobset.x-k8s.io`."""
    one = kind.lower()
    return typed.partition(".")[0] in (one, f"{one}s", f"{one}es", f"{one.removesuffix('y')}ies")


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
    meant = near(target.name, present)
    spaces = ", ".join(sorted({e.namespace for e in elsewhere}))
    hint = f"; it exists in namespace {spaces}" if elsewhere else did_you_mean(meant)
    return TargetMissingError(f"{target.text} is not there{where}{hint}", meant)
