"""What a target amounts to: the subjects that rules are asked about, for pods, a node, an operand or the cluster.

A node is asked about with its probe and its operands' pods, an operand with its DaemonSet, its pods that are not well
and the nodes where they wait, the cluster with every GPU node, every operand, and every pod and workload that asks for
a GPU and is not well.
"""

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from lockgate.diagnosis.never_admitted import never_admitted
from lockgate.diagnosis.operand_names import matching, short_name, suggestions, validation
from lockgate.diagnosis.owners import SECTION_OF
from lockgate.diagnosis.probe import gate_of, probe
from lockgate.diagnosis.replaced import replaced
from lockgate.diagnosis.seen import MOST_NODES
from lockgate.diagnosis.stage import Stage, is_ready, stage_of
from lockgate.diagnosis.subject import MAKERS, Common, Subject, is_short, subjects
from lockgate.diagnosis.target import (
    CLUSTER,
    SELECTED,
    TOLD,
    Found,
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
from lockgate.model.facts import Missing, Nodes, Pods, Snapshot
from lockgate.model.label_query import parse_query
from lockgate.model.objects import DaemonSet, Node, Pod, Workload

# So many kinds of sick pods are looked at; the answer says how many pods were left out.
MOST_PODS = 50
# Labels that tell the pods of one controller apart.
_OF_ONE_POD = (
    "apps.kubernetes.io/pod-index",
    "statefulset.kubernetes.io/pod-name",
    "batch.kubernetes.io/job-completion-index",
)
_OWNING = ("deployments", "replica_sets", "stateful_sets", "jobs")


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
    own = [p.pod for p in known.on(node.name) if not validation(p.pod)]
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
    kinds = _by_kind(gone.sick(pods))
    asking = sum(bool(gpu_asked(p)) for p in pods)
    lacking = _lacking(snapshot, target.name)
    return Scope(
        target,
        (*kinds[:MOST_PODS], *lacking, *gone.of(pods)),
        sum(1 + len(s.alike) for s in kinds[MOST_PODS:]),
        f"{counted(len(pods), 'pod')} looked at, {counted(asking, 'asks', 'ask')} for GPUs",
        _OWNING,
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
        _check_pods(snapshot, f"pods with labels {target.name}{where}", target.namespace)
        raise TargetMissingError(f"no pod{where} has the labels {target.name} ({counted(len(known), 'pod')} looked at)")
    gone = _Gone(snapshot, target)
    kinds = _by_kind(gone.sick(pods))
    asking = counted(sum(bool(gpu_asked(p)) for p in pods), "asks", "ask")
    seen = f"{len(pods)} of them{where} looked at, {asking} for GPUs"
    return Scope(target, (*kinds[:MOST_PODS], *gone.of(pods)), sum(1 + len(s.alike) for s in kinds[MOST_PODS:]), seen)


def _check_pods(snapshot: Snapshot, text: str, namespace: str) -> None:
    """Raises UnreadTargetError where no list of the pods that are asked about could be read."""
    lists = (snapshot.namespace_pods, snapshot.pods) if namespace else (snapshot.pods,)
    unread = [pods for pods in lists if isinstance(pods, Missing)]
    if len(unread) == len(lists):
        told = next((pods for pods in unread if pods.refused), unread[-1])
        raise UnreadTargetError(f"{text} cannot be looked up: pods: {told.text}")


def pods_of(snapshot: Snapshot, target: Target) -> Pods:
    """The pods of a namespace, or those with the labels that are asked for."""
    if target.kind == "Namespace":
        return tuple(p for p in snapshot.known_pods if p.namespace == target.name)
    fits = parse_query(target.name)
    return tuple(p for p in snapshot.known_pods if target.namespace in ("", p.namespace) and fits(p.metadata.labels))


def check_namespace(snapshot: Snapshot, name: str) -> None:
    """Raises TargetMissingError where a namespace is not there, UnreadTargetError where that is not known."""
    listed = snapshot.namespaces
    named = () if isinstance(listed, Missing) else (n.name for n in listed)
    spaces = {*named, *(p.namespace for p in snapshot.known_pods)}
    if name in spaces:
        return
    meant = near(name, spaces)
    if isinstance(listed, Missing):
        why = f"no pod of it is known, and namespaces: {listed.text}{did_you_mean(meant)}"
        raise UnreadTargetError(f"namespace/{name} cannot be looked up: {why}", meant)
    raise TargetMissingError(f"namespace/{name} is not there{did_you_mean(meant)}", meant)


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
    asking = [p for p in snapshot.known_pods if _asks(p) and (p.namespace, p.name) not in own]
    gone = _Gone(snapshot, target)
    own_sick = tuple(s for ds in known.daemon_sets for s in _operand(known, ds, gone))
    kinds = _by_kind(gone.sick(asking))
    left = gone.of((*asking, *(p.pod for p in known.pods)))
    about = (_whole(common), *gpu_nodes, *own_sick, *kinds[:MOST_PODS], *_lacking(snapshot), *left)
    those, sets = counted(len(asking), "pod that asks", "pods that ask"), counted(len(known.daemon_sets), "operand")
    seen = f"{those} for GPUs and {sets} looked at, no node" if blind else ""
    return Scope(target, about, sum(1 + len(s.alike) for s in kinds[MOST_PODS:]), seen, _OWNING)


def _is_silent(snapshot: Snapshot) -> bool:
    """Whether no ClusterPolicy was read that says how its operator fares."""
    policies = snapshot.cluster_policies
    return isinstance(policies, Missing) or not any(p.status.conditions or p.status.state for p in policies)


def _asks(pod: Pod) -> bool:
    """Whether a pod asks for devices, by number or by claim."""
    return bool(gpu_asked(pod) or pod.spec.resource_claims)


def _whole(common: Common) -> Subject:
    asking, known = probe(None, common.snapshot.runtime_classes), common.get("places")
    vacant = Places((), ()) if isinstance(known, Missing) else known.vacant
    return Subject(stage=Stage.CLUSTER, pod=asking, gate=gate_at(vacant, asking))


def operator_as_subjects(common: Common) -> tuple[Subject, ...]:
    """The cluster as a whole, and each operand's DaemonSet."""
    sets = (Subject(stage=Stage.OPERAND, operand=ds) for ds in common.get("operands").daemon_sets)
    return _whole(common), *sets


def sick(pods: Iterable[Pod]) -> tuple[Subject, ...]:
    """The pods that are not well, and are not being deleted."""
    about = (Subject(stage=stage_of(pod), pod=pod) for pod in pods)
    return tuple(s for s in about if not s.well and s.stage is not Stage.TERMINATING)


def _by_kind(sick: Iterable[Subject]) -> tuple[Subject, ...]:
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


def _lacking(snapshot: Snapshot, namespace: str = "") -> tuple[Subject, ...]:
    """Workloads that ask for GPUs and lack pods: what refuses their pods is told nowhere else."""
    named = {section: kind for kind, section in SECTION_OF.items()}
    hopeless = never_admitted(snapshot.queued_workloads)
    found = []
    for section in _OWNING:
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
