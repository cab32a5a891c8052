"""The whole capacity answer for a snapshot: what planner, dashboard and metrics show, and what was not known for it."""

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

import msgspec

from lockgate.capacity.as_described import is_summed_up, what_it_lacks, with_sums
from lockgate.capacity.by_claims import holds_claims
from lockgate.capacity.demand import Waiting, waiting
from lockgate.capacity.idle import Holder, by_node, idle_holders
from lockgate.capacity.mig_loss import MigGpu, mig_gpus
from lockgate.capacity.node_capacity import NodeCapacity, gpu_nodes
from lockgate.capacity.repartition import Partitionable, partitionables
from lockgate.capacity.samples import Sample, samples
from lockgate.capacity.shared import Shared, shared
from lockgate.capacity.table import By, NamespaceRow, Row, namespace_rows, rows, total
from lockgate.kit.counted import few
from lockgate.model import names
from lockgate.model.facts import Missing, Nodes, Snapshot
from lockgate.model.node_state import GPUNodeState
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.node_fit import Room
from lockgate.scheduling.scene import NodeView, Scene, Storage, scene, storage

T = TypeVar("T")
_ANY_FILE: Final = "files"  # of what was left out: nobody knows what is in them


class Overview(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Rows as asked for, the total of each resource, who waits, who holds what is idle.

    `idle` is None when no utilisation was read; `unknown` says what was not read.
    """

    by: By
    rows: tuple[Row, ...]
    total: tuple[Row, ...]
    namespaces: tuple[NamespaceRow, ...]
    waiting: tuple[Waiting, ...]
    mig: tuple[MigGpu, ...] = ()
    partitionable: tuple[Partitionable, ...] = ()
    shared: tuple[Shared, ...] = ()
    idle: tuple[Holder, ...] | None = None
    unknown: tuple[str, ...] = ()


class UnreadableError(Exception):
    """Nodes or pods were not read: no capacity can be told. The text says which, why, and how to read them."""


def overview(snapshot: Snapshot, by: By) -> Overview:
    """Add up a snapshot; raises UnreadableError without its nodes, and where rows would be sums of a part.

    Where the pods of all namespaces are not known, what they request is not, but for nodes whose description sums up.
    """
    if isinstance(snapshot.nodes, Missing) and by in (By.PRODUCT, By.POOL):
        raise UnreadableError(_text("nodes", snapshot.nodes))
    is_whole = by is By.NAMESPACE or not isinstance(snapshot.pods, Missing)
    pods = all_pods(snapshot) if is_whole else ()
    seen = known_scene(snapshot)
    nodes = _accounts(seen, snapshot)
    waits = waiting(pods if is_whole else snapshot.known_pods)
    open_ = [view.name for view in seen.nodes.values() if not is_requested_known(view.node, snapshot)]
    idle = None if isinstance(snapshot.readings, Missing) else idle_holders(snapshot.readings)
    return Overview(
        by=by,
        rows=() if by is By.NAMESPACE else rows(nodes, by, open_),
        total=() if isinstance(snapshot.nodes, Missing) else total(nodes, open_),
        namespaces=namespace_rows(pods, waits, idle),
        waiting=waits,
        mig=mig_gpus(_states(snapshot), _nodes(snapshot)),
        partitionable=partitionables(view for view in seen.nodes.values() if view.name not in open_),
        shared=shared(nodes),
        idle=idle,
        unknown=(*unread(snapshot, nodes), *_unmeasured(snapshot, nodes)),
    )


def accounts(snapshot: Snapshot) -> tuple[NodeCapacity, ...]:
    """Every GPU node's account; raises UnreadableError without nodes.

    What is requested is a part of it, or nothing, on nodes for which `is_requested_known` is False.
    """
    return _accounts(known_scene(snapshot), snapshot)


def accounts_of(rooms: Iterable[tuple[Node, Room]], snapshot: Snapshot) -> tuple[NodeCapacity, ...]:
    """The same of GPU nodes whose arithmetic is known already."""
    views = {node.name: NodeView(node=node, pods=(), summed_up=room) for node, room in rooms}
    return _accounts(Scene(nodes=views), snapshot)


def is_requested_known(node: Node, snapshot: Snapshot) -> bool:
    """Whether it is known what is requested on a node: all pods were read, or its description sums them up."""
    return not isinstance(snapshot.pods, Missing) or is_summed_up(node)


def measured(snapshot: Snapshot) -> tuple[Sample, ...]:
    """The same answer as samples of metrics; raises UnreadableError without nodes, or the pods of all namespaces."""
    seen = scene_of(snapshot)
    return samples(_accounts(seen, snapshot), seen, waiting(all_pods(snapshot)))


def scene_of(snapshot: Snapshot) -> Scene:
    """The cluster as the scheduler's model needs it; raises UnreadableError without its nodes or pods."""
    if isinstance(snapshot.nodes, Missing):
        raise UnreadableError(_text("nodes", snapshot.nodes))
    all_pods(snapshot)
    return known_scene(snapshot)


def known_scene(snapshot: Snapshot) -> Scene:
    """The same of the nodes and pods that are known; raises UnreadableError where no node is."""
    known = _scene(snapshot, _nodes(snapshot))
    return with_sums(known) if isinstance(snapshot.pods, Missing) else known


def _scene(snapshot: Snapshot, nodes: Nodes) -> Scene:
    return scene(
        nodes,
        snapshot.known_pods if isinstance(snapshot.pods, Missing) else snapshot.pods,
        _known(snapshot.namespaces) or (),
        _storage(snapshot),
        _known(snapshot.pod_disruption_budgets),
        _known(snapshot.priority_classes),
        _known(snapshot.runtime_classes),
    )


def all_pods(snapshot: Snapshot) -> tuple[Pod, ...]:
    """The pods of all namespaces: what the scheduler counts. One namespace's pods are not enough for that."""
    if isinstance(snapshot.pods, Missing):
        raise UnreadableError(_text("pods of all namespaces", snapshot.pods))
    return snapshot.pods


def _nodes(snapshot: Snapshot) -> Nodes:
    if isinstance(snapshot.known_nodes, Missing):
        raise UnreadableError(_text("nodes", snapshot.known_nodes))
    return snapshot.known_nodes


def _accounts(seen: Scene, snapshot: Snapshot) -> tuple[NodeCapacity, ...]:
    states = {state.name: state for state in _states(snapshot)}
    return gpu_nodes(seen, states, by_node(_known(snapshot.readings) or ()))


def _storage(snapshot: Snapshot) -> Storage | None:
    claims = _known(snapshot.persistent_volume_claims)
    if claims is None:
        return None
    return storage(claims, _known(snapshot.persistent_volumes), _known(snapshot.storage_classes))


def _known(section: tuple[T, ...] | Missing) -> tuple[T, ...] | None:
    return None if isinstance(section, Missing) else section


def _states(snapshot: Snapshot) -> tuple[GPUNodeState, ...]:
    return () if isinstance(snapshot.node_states, Missing) else snapshot.node_states


def unread(snapshot: Snapshot, nodes: Iterable[NodeCapacity]) -> Iterator[str]:
    """What is not known of the devices themselves, and of who holds them."""
    if isinstance(snapshot.nodes, Missing):
        yield f"other nodes than these, and what all have together: {snapshot.nodes.text}"
    yield from left_members(snapshot)
    if isinstance(snapshot.pods, Missing):
        yield what_it_lacks(snapshot)
    if isinstance(snapshot.node_states, Missing):
        yield f"devices as the nodes' agents see them: {snapshot.node_states.reason}; labels are used instead"
    uncounted = [node.node for node in nodes if node.physical is None]
    if uncounted:
        yield f"physical GPUs of {', '.join(uncounted)}: no label and no agent tells"
    yield from _held_by_claims(snapshot)


def _held_by_claims(snapshot: Snapshot) -> Iterator[str]:
    """Whose devices no number counts; pods hold other devices by claims too, where NVIDIA's driver serves none."""
    slices, pods = snapshot.resource_slices, _known(snapshot.pods) or ()
    if isinstance(slices, Missing) or any(each.spec.driver == names.CLAIMS_DRIVER for each in slices):
        holding = [f"{pod.namespace}/{pod.name}" for pod in pods if holds_claims(pod)]
        if holding:
            yield f"devices that {few(holding)} hold by claims: they are not in these numbers"


def left_members(snapshot: Snapshot) -> Iterator[str]:
    """Files that were left out of the input."""
    yield from (Missing(part.reason, part.how).text for part in snapshot.left_out if part.section == _ANY_FILE)


def _unmeasured(snapshot: Snapshot, nodes: tuple[NodeCapacity, ...]) -> Iterator[str]:
    """Where it is not known which requested slots are idle, and why."""
    if isinstance(snapshot.readings, Missing):
        how = f" (to read it: {snapshot.readings.how})" if snapshot.readings.how else ""
        yield f"requested but idle: {snapshot.readings.reason}{how}"
    elif unmeasured := [node.node for node in nodes if any(slots.idle is None for slots in node.slots)]:
        yield f"requested but idle on {', '.join(unmeasured)}: no exporter tells of the devices that pods hold"


def _text(what: str, missing: Missing) -> str:
    how = f" (to read them: {missing.how})" if missing.how else ""
    return f"{what} are not known: {missing.reason}{how}"
