"""The operands: their DaemonSets, and their pods node by node."""

from collections import defaultdict
from functools import cached_property

import msgspec

from lockgate.diagnosis.operand_names import APPS, short_name, validation
from lockgate.diagnosis.views.pod_kinds import PodKinds
from lockgate.kit.by_identity import by_identity
from lockgate.model.facts import DaemonSets, Missing, Pods
from lockgate.model.objects import DaemonSet, OwnerReference, Pod

_ORDER = {name: place for place, name in enumerate(APPS)}


class OperandPod(msgspec.Struct, frozen=True):
    """A pod of an operand; `operand` is the short name."""

    operand: str
    pod: Pod


class Operands:
    """The operands of the cluster; a node's pods come in the order in which they wait for each other.

    A pod that failed and whose DaemonSet has made another one on the same node says nothing of now: it is none of the
    node's pods, but left over there.
    """

    def __init__(self, daemon_sets: DaemonSets, pods: tuple[OperandPod, ...]) -> None:
        self.daemon_sets, self.pods = daemon_sets, pods
        self._names = {(p.pod.namespace, p.pod.name): p.operand for p in pods}
        self._on: dict[str, list[OperandPod]] = defaultdict(list)
        self._of: dict[tuple[str, str], list[Pod]] = defaultdict(list)
        for each in pods:
            self._of[each.pod.namespace, _owner(each.pod)].append(each.pod)
        self._left: dict[str, list[Pod]] = defaultdict(list)
        for each in sorted(pods, key=lambda p: (_ORDER.get(p.operand, len(_ORDER)), p.pod.name)):
            self._on[each.pod.spec.node_name].append(each)
        for node in {p.pod.spec.node_name for p in pods if _has_failed(p)}:
            self._part(node)

    def _part(self, node: str) -> None:
        """Put aside what failed on a node and was made anew."""
        here = self._on[node]
        stand = {_maker(p) for p in here if not _has_failed(p)} - {None}
        self._on[node] = [p for p in here if not (_has_failed(p) and _maker(p) in stand)]
        self._left[node] = [p.pod for p in here if _has_failed(p) and _maker(p) in stand]

    def on(self, node: str) -> tuple[OperandPod, ...]:
        """The operand pods on a node."""
        return tuple(self._on.get(node, ()))

    def left_over_on(self, node: str) -> tuple[Pod, ...]:
        """Their failed pods on a node that others stand for."""
        return tuple(self._left.get(node, ()))

    def pod_on(self, node: str, operand: str) -> Pod | None:
        """The pod of one operand on a node."""
        return next((each.pod for each in self.on(node) if each.operand == operand), None)

    def name_of(self, pod: Pod) -> str:
        """The operand that a pod belongs to, "" when it is none."""
        return self._names.get((pod.namespace, pod.name), "")

    def of(self, daemon_set: DaemonSet) -> tuple[Pod, ...]:
        """The pods of one operand's DaemonSet."""
        return tuple(self._of.get((daemon_set.namespace, daemon_set.name), ()))

    def called(self, name: str) -> list[DaemonSet]:
        """The DaemonSets of one operand, by its short name."""
        return self._called.get(name, [])

    @cached_property
    def _called(self) -> dict[str, list[DaemonSet]]:
        found: dict[str, list[DaemonSet]] = defaultdict(list)
        for each in self.daemon_sets:
            found[short_name(each) or each.name].append(each)
        return found

    def maker_of(self, pod: Pod) -> DaemonSet | None:
        """The operand's DaemonSet that made a pod."""
        owner = _owner(pod)
        return next((ds for ds in self.daemon_sets if (ds.namespace, ds.name) == (pod.namespace, owner)), None)


def operands(pod_kinds: PodKinds, namespace_pods: Pods | Missing, daemon_sets: DaemonSets | Missing) -> Operands:
    """What of the cluster belongs to a GPU operator, by all pods or else by those of one namespace.

    Pods of the validator that have failed are among those of a namespace alone.
    """
    near = () if isinstance(namespace_pods, Missing) else namespace_pods
    sets = () if isinstance(daemon_sets, Missing) else tuple(ds for ds in daemon_sets if short_name(ds))
    known = pod_kinds.of(_may_belong)
    if near is not pod_kinds.pods:
        failed = {(p.namespace, p.name): p for p in near if validation(p.metadata.labels)}
        known = [*(p for p in known if (p.namespace, p.name) not in failed), *failed.values()]
    by_name = {(ds.namespace, ds.name): short_name(ds) for ds in sets}
    return Operands(sets, tuple(OperandPod(name, pod) for pod in known if (name := _operand(pod, by_name))))


def _may_belong(pod: Pod) -> bool:
    return bool(_owner(pod) or validation(pod.metadata.labels))


def _operand(pod: Pod, by_name: dict[tuple[str, str], str]) -> str:
    """By its DaemonSet, else by its label; a pod that no DaemonSet owns is none but for the validator's own."""
    owner = _owner(pod)
    if not owner:
        return validation(pod.metadata.labels)
    return by_name.get((pod.namespace, owner), "") or short_name(pod)


def _has_failed(each: OperandPod) -> bool:
    return each.pod.status.phase == "Failed"


def _maker(each: OperandPod) -> tuple[str, str] | None:
    """The DaemonSet that made a pod by namespace and name, None where none did."""
    owner = _owner(each.pod)
    return (each.pod.namespace, owner) if owner else None


def _owner(pod: Pod) -> str:
    """The DaemonSet that made a pod, "" where none did."""
    return _daemon_set(pod.metadata.owner_references)


@by_identity
def _daemon_set(owners: tuple[OwnerReference, ...]) -> str:
    return next((o.name for o in owners if o.kind == "DaemonSet"), "")
