"""What a target amounts to: the subjects that rules are asked about, for pods, a node, an operand or the cluster.

A node is asked about with its probe and its operands' pods, an operand with its DaemonSet, its pods that are not well
and the nodes where they wait, the cluster with every GPU node, every operand, and every pod and workload that asks for
a GPU and is not well.
"""

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from lockgate.diagnosis.operand_names import matching, short_name, suggestions, validation
from lockgate.diagnosis.pods_asked import check_namespace, check_pods, pods_of
from lockgate.diagnosis.probe import gate_of, probe
from lockgate.diagnosis.replaced import replaced
from lockgate.diagnosis.seen import MOST_NODES
from lockgate.diagnosis.sick import OWNING, by_kind, lacking, sick
from lockgate.diagnosis.stage import Stage, is_ready
from lockgate.diagnosis.subject import Common, Subject, subjects
from lockgate.diagnosis.target import (
    CLUSTER,
    SELECTED,
    TOLD,
    Target,
    TargetMissingError,
    UnreadTargetError,
    alone,
    find,
)
from lockgate.diagnosis.views.gate_one import gate_at, gpu_asked
from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.places import Places
from lockgate.kit.counted import counted
from lockgate.kit.near import did_you_mean, near
from lockgate.model import names
from lockgate.model.facts import Missing, Nodes, Snapshot
from lockgate.model.objects import DaemonSet, Node, Pod
from lockgate.scheduling.requests import defaulted_requests

# So many kinds of sick pods are looked at; the answer says how many pods were left out.
MOST_PODS = 50
_VENDOR = f"{names.NVIDIA_GROUP}/"


class Scope(msgspec.Struct, frozen=True):
    """The target as found, and the subjects; `unseen` counts sick pods beyond those that are looked at.

    `looked_at` says in a few words what was gone through, where the subjects do not tell it; `through` are the sections
    that were gone through for subjects, so that one that was not read may hide some.
    """

    target: Target
    about: tuple[Subject, ...]
    unseen: int = 0
    looked_at: str = ""
    through: tuple[str, ...] = ()


def scope(snapshot: Snapshot, target: Target, common: Common | None = None) -> Scope:
    """The subjects of a target; raises TargetMissingError where it is not among the facts."""
    common = common or Common(snapshot)
    match target.kind:
        case "Node":
            return _node_scope(common, target)
        case "Operand":
            return _operand_scope(common, target)
        case "Namespace":
            return _namespace_scope(snapshot, target)
        case _ if target.kind == SELECTED:
            return _selected_scope(snapshot, target)
        case _ if target.kind == TOLD:
            return _told_scope(snapshot, target)
        case _ if target.kind == CLUSTER:
            return _cluster_scope(common, target)
        case _:
            found = find(snapshot, target)
            gone = _Gone(snapshot, target)
            return Scope(found.target, (*subjects(found, gone.places), *gone.of(found.pods)))


class _Gone:
    """The failed pods that nobody misses; what is asked about by its own name is missed by whoever asks."""

    def __init__(self, snapshot: Snapshot, target: Target) -> None:
        self.places = frozenset() if target.kind == "Pod" else replaced(snapshot, later_runs=target.kind != "Job")

    def sick(self, pods: Iterable[Pod]) -> tuple[Subject, ...]:
        """Those that are not well, without what is replaced."""
        return sick(p for p in pods if (p.namespace, p.name) not in self.places) if self.places else sick(pods)

    def of(self, pods: Iterable[Pod]) -> tuple[Subject, ...]:
        """One subject for those of them that are replaced, none where none is."""
        here = tuple(p for p in pods if (p.namespace, p.name) in self.places) if self.places else ()
        return (Subject(stage=Stage.REPLACED, replaced=here),) if here else ()


# --- a node


def _node_scope(common: Common, target: Target) -> Scope:
    snapshot = common.snapshot
    nodes = _known_nodes(snapshot, target)
    node = next((n for n in nodes if n.name == target.name), None)
    if node is None:
        meant = near(target.name, (n.name for n in nodes))
        raise TargetMissingError(f"{target.text} is not there{did_you_mean(meant)}", meant)
    known: Operands = common.get("operands")
    own = [p.pod for p in known.on(node.name) if not validation(p.pod.metadata.labels)]
    gone = _Gone(snapshot, target)
    left = gone.of((*own, *known.left_over_on(node.name)))
    return Scope(target, (*nodes_as_subjects(common, (node,)), *gone.sick(own), *left))


def nodes_as_subjects(common: Common, nodes: Iterable[Node]) -> tuple[Subject, ...]:
    """Each of the nodes that are known with its probe."""
    return tuple(_node(common, node) for node in nodes)


def _node(common: Common, node: Node) -> Subject:
    asking = probe(node, common.snapshot.runtime_classes)
    return Subject(stage=Stage.NODE, pod=asking, node=node, gate=gate_of(asking, node, common.get("places")))


def _known_nodes(snapshot: Snapshot, target: Target) -> Nodes:
    if isinstance(snapshot.nodes, Missing):
        raise UnreadTargetError(f"{target.text} cannot be looked up: nodes: {snapshot.nodes.text}")
    return snapshot.nodes


# --- an operand


def _operand_scope(common: Common, target: Target) -> Scope:
    snapshot = common.snapshot
    if isinstance(snapshot.daemon_sets, Missing):
        raise UnreadTargetError(f"{target.text} cannot be looked up: daemonsets: {snapshot.daemon_sets.text}")
    sets = matching(target.name, snapshot.daemon_sets)
    if not sets:
        there, meant = suggestions(target.name, snapshot.daemon_sets)
        hint = "" if target.name in meant else did_you_mean(meant)
        listed = f" (there is: {', '.join(there)})" if there else " (no operand's DaemonSet is among the facts)"
        raise TargetMissingError(f"{target.text} is not there{hint}{listed}", meant)
    known: Operands = common.get("operands")
    placed = msgspec.structs.replace(target, name=short_name(sets[0]) or sets[0].name, namespace=sets[0].namespace)
    gone, pods = _Gone(snapshot, target), [p for ds in sets for p in known.of(ds)]
    own = (s for ds in sets for s in _operand(known, ds, gone))
    return Scope(placed, (*own, *_where_it_waits(common, pods), *gone.of(pods)))


def _where_it_waits(common: Common, pods: Iterable[Pod]) -> tuple[Subject, ...]:
    """The nodes on which an operand's pods are not ready: what they wait for in Init is a fault of the node."""
    waiting = {p.spec.node_name for p in pods if not is_ready(p)}
    nodes = common.snapshot.nodes
    known = () if isinstance(nodes, Missing) else nodes
    return nodes_as_subjects(common, [n for n in known if n.name in waiting][:MOST_NODES])


def _operand(known: Operands, daemon_set: DaemonSet, gone: _Gone) -> tuple[Subject, ...]:
    own = Subject(stage=Stage.OPERAND, operand=daemon_set)
    return own, *gone.sick(known.of(daemon_set))


# --- a namespace


def _namespace_scope(snapshot: Snapshot, target: Target) -> Scope:
    """Every pod of it that is not well, whether it asks for a GPU or not, and what lacks pods."""
    pods = pods_of(snapshot, target)
    if not pods:
        check_namespace(snapshot, target.name)
    gone = _Gone(snapshot, target)
    kinds = by_kind(gone.sick(pods))
    asking = sum(bool(gpu_asked(p)) for p in pods)
    short = lacking(snapshot, target.name)
    return Scope(
        target,
        (*kinds[:MOST_PODS], *short, *gone.of(pods)),
        sum(1 + len(s.alike) for s in kinds[MOST_PODS:]),
        f"{counted(len(pods), 'pod')} looked at, {counted(asking, 'asks', 'ask')} for GPUs",
        OWNING,
    )


def _selected_scope(snapshot: Snapshot, target: Target) -> Scope:
    """Every pod with the labels that are asked for; where all are well one speaks for all."""
    known = [p for p in snapshot.known_pods if target.namespace in ("", p.namespace)]
    pods = pods_of(snapshot, target)
    where = f" in namespace {target.namespace}" if target.namespace else ""
    if target.namespace and not known:
        with suppress(UnreadTargetError):
            check_namespace(snapshot, target.namespace)
    if not pods:
        check_pods(snapshot, f"pods with labels {target.name}{where}", target.namespace)
        raise TargetMissingError(f"no pod{where} has the labels {target.name} ({counted(len(known), 'pod')} looked at)")
    gone = _Gone(snapshot, target)
    kinds = by_kind(gone.sick(pods))
    asking = counted(sum(bool(gpu_asked(p)) for p in pods), "asks", "ask")
    seen = f"{len(pods)} of them{where} looked at, {asking} for GPUs"
    return Scope(target, (*kinds[:MOST_PODS], *gone.of(pods)), sum(1 + len(s.alike) for s in kinds[MOST_PODS:]), seen)


# --- files that hold no cluster


def _told_scope(snapshot: Snapshot, target: Target) -> Scope:
    """Each workload with its pods, and each pod without one, that is not well: whether it asks for a GPU or not."""
    tops = alone(snapshot, target.namespace)
    bare = {(top.namespace, top.name) for top in tops if top.kind == "Pod"}
    pods = sick(p for p in snapshot.known_pods if (p.namespace, p.name) in bare)
    gone = _Gone(snapshot, target)
    owning = (s for top in tops if top.kind != "Pod" for s in subjects(find(snapshot, top), gone.places))
    left = gone.of(snapshot.known_pods)
    about = (*left, *(s for s in owning if not s.well and s.stage is not Stage.TERMINATING), *pods)
    seen = f"{counted(len(tops), 'object')} looked at"
    return Scope(target, about[:MOST_PODS], max(len(about) - MOST_PODS, 0), seen)


# --- the cluster


def _cluster_scope(common: Common, target: Target) -> Scope:
    """Without nodes what its pods and workloads tell is left, and the operator's policy; without those nothing is."""
    snapshot = common.snapshot
    blind = isinstance(snapshot.nodes, Missing) and not (isinstance(snapshot.pods, Missing) and _is_silent(snapshot))
    if not blind:
        _known_nodes(snapshot, target)
    known: Operands = common.get("operands")
    gpu_nodes = nodes_as_subjects(common, () if blind else common.get("places").with_gpus)
    own = {(p.pod.namespace, p.pod.name) for p in known.pods}
    asking = [p for p in _asking(common) if (p.namespace, p.name) not in own]
    gone = _Gone(snapshot, target)
    own_sick = tuple(s for ds in known.daemon_sets for s in _operand(known, ds, gone))
    kinds = by_kind(gone.sick(asking))
    left = gone.of((*asking, *(p.pod for p in known.pods)))
    about = (_whole(common), *gpu_nodes, *own_sick, *kinds[:MOST_PODS], *lacking(snapshot), *left)
    those, sets = counted(len(asking), "pod that asks", "pods that ask"), counted(len(known.daemon_sets), "operand")
    seen = f"{those} for GPUs and {sets} looked at, no node" if blind else ""
    return Scope(target, about, sum(1 + len(s.alike) for s in kinds[MOST_PODS:]), seen, OWNING)


def _is_silent(snapshot: Snapshot) -> bool:
    """Whether no ClusterPolicy was read that says how its operator fares."""
    policies = snapshot.cluster_policies
    return isinstance(policies, Missing) or not any(p.status.conditions or p.status.state for p in policies)


def _asking(common: Common) -> list[Pod]:
    """Every pod that is known of and asks for devices, as `Snapshot.known_pods` has them."""
    kinds, near = common.get("pod_kinds"), common.snapshot.namespace_pods
    asking = [pod for pod in kinds.of(_may_ask) if _asks(pod)]
    if isinstance(near, Missing) or near is kinds.pods:
        return asking
    there = {(p.namespace, p.name) for p in near}
    return [*filter(_asks, near), *(p for p in asking if (p.namespace, p.name) not in there)]


def _asks(pod: Pod) -> bool:
    """Whether a pod asks for devices, by number or by claim; or waits for what looks like a GPU's name."""
    return _asks_devices(pod) or (not pod.spec.node_name and _asks_vendor(pod))


def _may_ask(pod: Pod) -> bool:
    """Whether pods of its kind ask, those that wait at least, by the names alone."""
    resources = (each.resources for each in (*pod.spec.init_containers, *pod.spec.containers))
    named = (name for each in resources for name in (*each.limits, *each.requests))
    return _asks_devices(pod) or any(name.startswith(_VENDOR) for name in named)


def _asks_devices(pod: Pod) -> bool:
    return bool(gpu_asked(pod) or pod.spec.resource_claims)


def _asks_vendor(pod: Pod) -> bool:
    return any(name.startswith(_VENDOR) for name in defaulted_requests(pod.spec))


def _whole(common: Common) -> Subject:
    asking, known = probe(None, common.snapshot.runtime_classes), common.get("places")
    vacant = Places((), ()) if isinstance(known, Missing) else known.vacant
    return Subject(stage=Stage.CLUSTER, pod=asking, gate=gate_at(vacant, asking))


def operator_as_subjects(common: Common) -> tuple[Subject, ...]:
    """The cluster as a whole, and each operand's DaemonSet."""
    sets = (Subject(stage=Stage.OPERAND, operand=ds) for ds in common.get("operands").daemon_sets)
    return _whole(common), *sets
