"""The whole capacity answer for a snapshot: what planner, dashboard and metrics show, and what was not known for it."""

from typing import TypeVar

import msgspec

from lockgate.capacity.demand import Waiting, waiting
from lockgate.capacity.mig_loss import MigGpu, mig_gpus
from lockgate.capacity.node_capacity import NodeCapacity, gpu_nodes
from lockgate.capacity.table import By, NamespaceRow, Row, namespace_rows, rows, total
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.node_state import GPUNodeState
from lockgate.model.objects import Pod
from lockgate.scheduling.scene import Scene, Storage, scene, storage

T = TypeVar("T")


class Overview(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Rows as asked for, the total of each resource, who waits; `unknown` says what was not read."""

    by: By
    rows: tuple[Row, ...]
    total: tuple[Row, ...]
    namespaces: tuple[NamespaceRow, ...]
    waiting: tuple[Waiting, ...]
    mig: tuple[MigGpu, ...] = ()
    unknown: tuple[str, ...] = ()


class UnreadableError(Exception):
    """Nodes or pods were not read: no capacity can be told. The text says which, why, and how to read them."""


def overview(snapshot: Snapshot, by: By) -> Overview:
    """Add up a snapshot; raises UnreadableError without its nodes or the pods of all namespaces."""
    nodes, pods = accounts(snapshot), all_pods(snapshot)
    waits = waiting(pods)
    return Overview(
        by=by,
        rows=() if by is By.NAMESPACE else rows(nodes, by),
        total=total(nodes),
        namespaces=namespace_rows(pods, waits),
        waiting=waits,
        mig=mig_gpus(_states(snapshot)),
        unknown=_unknown(snapshot, nodes),
    )


def accounts(snapshot: Snapshot) -> tuple[NodeCapacity, ...]:
    """Every GPU node's account."""
    return gpu_nodes(scene_of(snapshot), {state.name: state for state in _states(snapshot)})


def scene_of(snapshot: Snapshot) -> Scene:
    """The cluster as the scheduler's model needs it; raises UnreadableError like `overview`."""
    if isinstance(snapshot.nodes, Missing):
        raise UnreadableError(_text("nodes", snapshot.nodes))
    return scene(
        snapshot.nodes,
        all_pods(snapshot),
        _known(snapshot.namespaces) or (),
        _storage(snapshot),
        _known(snapshot.pod_disruption_budgets),
    )


def all_pods(snapshot: Snapshot) -> tuple[Pod, ...]:
    """The pods of all namespaces: what the scheduler counts. One namespace's pods are not enough for that."""
    if isinstance(snapshot.pods, Missing):
        raise UnreadableError(_text("pods of all namespaces", snapshot.pods))
    return snapshot.pods


def _storage(snapshot: Snapshot) -> Storage | None:
    claims = _known(snapshot.persistent_volume_claims)
    if claims is None:
        return None
    return storage(claims, _known(snapshot.persistent_volumes), _known(snapshot.storage_classes))


def _known(section: tuple[T, ...] | Missing) -> tuple[T, ...] | None:
    return None if isinstance(section, Missing) else section


def _states(snapshot: Snapshot) -> tuple[GPUNodeState, ...]:
    return () if isinstance(snapshot.node_states, Missing) else snapshot.node_states


def _unknown(snapshot: Snapshot, nodes: tuple[NodeCapacity, ...]) -> tuple[str, ...]:
    said = []
    if isinstance(snapshot.node_states, Missing):
        said.append(f"devices as the nodes' agents see them: {snapshot.node_states.reason}; labels are used instead")
    uncounted = [node.node for node in nodes if node.physical is None]
    if uncounted:
        said.append(f"physical GPUs of {', '.join(uncounted)}: no label and no agent tells")
    return tuple(said)


def _text(what: str, missing: Missing) -> str:
    how = f" (to read them: {missing.how})" if missing.how else ""
    return f"{what} are not known: {missing.reason}{how}"
