"""Does it fit? Where, and if not: what blocks each node, and the smallest changes that would make room."""

import enum
from collections.abc import Iterable, Mapping

import msgspec

from lockgate.capacity.blockers import Blocker, blockers
from lockgate.capacity.change import Change
from lockgate.capacity.changes import Tried, changes
from lockgate.capacity.copies import notices_itself, place_copies
from lockgate.capacity.demand import gpu_requests
from lockgate.capacity.node_capacity import node_capacity
from lockgate.capacity.preempted import with_priority
from lockgate.capacity.repartition import no_such_profile, not_cuttable
from lockgate.capacity.shared import Shared, shared
from lockgate.kit.counted import counted
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import Pod
from lockgate.scheduling.admission import Admitted, admit
from lockgate.scheduling.filters import unmodelled
from lockgate.scheduling.requests import Amounts, pod_requests
from lockgate.scheduling.scene import Scene


class Verdict(enum.StrEnum):
    """What is known of all copies together."""

    FITS = "fits"
    AS_FAR_AS_KNOWN = "fits-as-far-as-known"
    UNKNOWN = "unknown"
    DOES_NOT_FIT = "does-not-fit"
    REFUSED = "refused"


class Fit(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer for `wanted` copies of a pod.

    `refused` is why the API server takes no such pod; then nothing is placed. `added` is what its RuntimeClass adds.
    `where` holds copies by node, `shared` those of its nodes whose slots share a GPU. `blockers` is what refuses the
    next copy on the GPU nodes, after those were placed; `mind` what no change of these nodes can help. `undecided` is
    what about this pod could still keep it away, `unread` what was not read and decides, `left_out` what the model
    leaves out for every pod. Where not all pods are known no change was tried (`untried`), and where what is requested
    is not either, no more copies fit than those of `where` (`at_most`).
    """

    wanted: int
    asked: Amounts
    where: Mapping[str, int]
    gpu_nodes: int
    other_nodes: int
    refused: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    shared: tuple[Shared, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    mind: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    undecided: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    untried: bool = False
    at_most: bool = False

    @property
    def copies(self) -> int:
        """How many copies fit now, of those wanted."""
        return sum(self.where.values())

    @property
    def fits(self) -> bool:
        """Whether all of them fit now."""
        return self.copies >= self.wanted

    @property
    def verdict(self) -> Verdict:
        """The answer in a word."""
        if self.refused:
            return Verdict.REFUSED
        if self.unread:
            return Verdict.UNKNOWN
        if self.fits:
            return Verdict.AS_FAR_AS_KNOWN if self.undecided else Verdict.FITS
        return Verdict.DOES_NOT_FIT


def fit(pod: Pod, scene: Scene, copies: int = 1, *, all_pods: bool = True) -> Fit:
    """Place the copies, and where some are left over explain the GPU nodes and try changes with the model again.

    No change is tried where the scene has not all pods: what it would free is not known.
    """
    admitted = admit(pod.spec, scene.runtimes, scene.priorities)
    pod = with_priority(msgspec.structs.replace(pod, spec=admitted.spec), scene)
    gpu = tuple(sorted(name for name, view in scene.nodes.items() if is_gpu_node(view.node)))
    if admitted.refused:
        return _refused(pod, admitted, copies, len(gpu), len(scene.nodes) - len(gpu))
    placed = place_copies(pod, scene, copies)
    short = placed.count < copies
    tried = changes(pod, scene, copies, gpu) if short and all_pods else Tried()
    return Fit(
        wanted=copies,
        asked=pod_requests(pod),
        where=placed.where,
        added=admitted.added,
        shared=_shared(pod, scene, placed.where),
        gpu_nodes=len(gpu),
        other_nodes=len(scene.nodes) - len(gpu),
        blockers=blockers(pod, placed.after, gpu) if short else (),
        mind=_mind(pod, scene, gpu) if short else (),
        changes=tried.changes,
        undecided=(*admitted.undecided, *unmodelled(pod, scene)),
        left_out=_left_out(pod, scene, tried),
        untried=short and not all_pods,
    )


def with_left_out(answer: Fit, texts: Iterable[str]) -> Fit:
    """The answer with more said of what it is not about."""
    return msgspec.structs.replace(answer, left_out=(*answer.left_out, *texts))


def at_most(answer: Fit) -> Fit:
    """The answer of a scene in which more may be requested than is seen."""
    return msgspec.structs.replace(answer, at_most=True)


def with_open(answer: Fit, undecided: Iterable[str], unread: Iterable[str]) -> Fit:
    """The answer with more said of what could still keep its pod away, and of what decides and was not read."""
    return msgspec.structs.replace(answer, undecided=(*answer.undecided, *undecided), unread=(*answer.unread, *unread))


def _refused(pod: Pod, admitted: Admitted, copies: int, gpu_nodes: int, other_nodes: int) -> Fit:
    return Fit(
        wanted=copies,
        asked=pod_requests(pod),
        where={},
        gpu_nodes=gpu_nodes,
        other_nodes=other_nodes,
        refused=admitted.refused,
        added=admitted.added,
    )


def _mind(pod: Pod, scene: Scene, gpu: tuple[str, ...]) -> tuple[str, ...]:
    asked, views = gpu_requests(pod), [scene.nodes[name] for name in gpu]
    return no_such_profile(asked, views) or not_cuttable(asked, views)


def _shared(pod: Pod, scene: Scene, where: Mapping[str, int]) -> tuple[Shared, ...]:
    """What slots are worth that copies would get and that share a GPU."""
    asked = gpu_requests(pod)
    nodes = (node_capacity(scene.nodes[name]) for name in where)
    return tuple(each for each in shared(nodes) if each.resource in asked)


def _left_out(pod: Pod, scene: Scene, tried: Tried) -> tuple[str, ...]:
    said = ["quotas, LimitRanges, webhooks"]
    if pod.spec.priority is None and pod.spec.priority_class_name:
        said.append(f"preemption: the priority of class {pod.spec.priority_class_name} is not known")
    if held := [f"{counted(count, 'pod')} {why}" for why, count in sorted(tried.held.items()) if count]:
        said.append(f"not moved: {', '.join(held)}")
    if scene.budgets is None:
        said.append("pod disruption budgets, which were not read")
    if notices_itself(pod):
        said.append("copies notice each other (ports, spread or pod affinity): another order might fit more")
    if tried.untried_nodes:
        said.append(f"changes on {counted(tried.untried_nodes, 'node')} further from fitting were not tried")
    if tried.note:
        said.append(tried.note)
    return tuple(said)
