"""Keeps one copy of what the objects of long lists have in common, so that 100,000 pods fit in little memory.

Replicas share their containers, tolerations and labels; nodes share label values. A pod that is well loses the moments
of its conditions and containers, which differ from pod to pod and which no rule asks of a pod that is well; every pod
loses its resource version and generation, since nothing here is written.
"""

from functools import lru_cache
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from lockgate.collect.copies import Room
from lockgate.collect.wire import SpecWire, StatusWire, pods_made
from lockgate.kube.reader import Shape
from lockgate.model.node_state import GPUNodeState
from lockgate.model.objects import (
    Affinity,
    Condition,
    Labels,
    Metadata,
    Node,
    OwnerReference,
    Pod,
    PodSpec,
    PodStatus,
)

T = TypeVar("T")
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"  # the whole object once more
_MOST_KEYS: Final = 32 * 1024 * 1024  # bytes of JSON by which copies are known; beyond it they are no longer found
_NULL: Final = msgspec.Raw(b"null")
_Kept = tuple[Labels, Labels, tuple[OwnerReference, ...]]


class Sharing:
    """The copies of one look at a cluster; objects come out equal to what went in, but for what the module says."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._values: dict[tuple[type, bytes], Any] = {}
        self._encode = msgspec.json.Encoder().encode
        self.room = Room(_MOST_KEYS)
        self._kept = self.room.copies(_Kept, tuple[msgspec.Raw, msgspec.Raw, msgspec.Raw], _without_last_applied)
        self._specs, self._statuses = self.room.copies(PodSpec, SpecWire), self.room.copies(PodStatus, StatusWire)
        self._affinities = self.room.copies(Affinity, msgspec.Raw)
        self._shapes: dict[type, Shape[Any]] = {
            Pod: Shape(*pods_made(self._pod)),
            Node: Shape(Node, self._node),
            GPUNodeState: Shape(GPUNodeState, self._state),
        }

    def shape(self, kind: type[T]) -> Shape[T] | None:
        """How a list of this type is decoded and what makes its objects; None where sharing gains nothing."""
        return self._shapes.get(kind)

    # --- pods

    def _pod(self, pod: Any) -> Pod:
        own = pod.metadata
        by = own.name.rpartition("-")[0]  # what made it, most often; what it says is compared
        return Pod(self._metadata(own, by), self._spec(pod.spec, by), self._status(pod, by))

    def _metadata(self, own: Any, by: str) -> Metadata:
        labels, annotations, owners = self._kept.of((own.labels, own.annotations, own.owner_references), by)
        return Metadata(
            own.name,
            self._texts.setdefault(own.namespace, own.namespace),
            own.uid,
            "",
            0,
            own.creation_timestamp,
            own.deletion_timestamp,
            own.deletion_grace_period_seconds,
            labels,
            annotations,
            own.finalizers,
            owners,
        )

    def _spec(self, spec: Any, by: str) -> PodSpec:
        """All is shared but the node, and the affinity, in which a DaemonSet names the node once more."""
        node, affinity = spec.node_name, spec.affinity
        spec.node_name, spec.affinity = "", UNSET
        spec.volumes = tuple([v for v in spec.volumes if v.has_source])
        shared: PodSpec = self._specs.of(spec, by)
        if affinity is not UNSET and affinity != _NULL:
            shared = replace(shared, affinity=self._affinities.of(affinity, by))
        return replace(shared, node_name=self._texts.setdefault(node, node)) if node else shared

    def _status(self, pod: Any, by: str) -> PodStatus:
        """All that a pod that is well tells of itself but its start is shared."""
        status = pod.status
        if not _is_well(pod):
            return cast(PodStatus, _decoder(PodStatus).decode(self._encode(status)))
        start, status.start_time = status.start_time, None
        _forget_moments(status)
        shared: PodStatus = self._statuses.of(status, by)
        return replace(shared, start_time=start)

    # --- nodes

    def _node(self, node: Node) -> Node:
        status = replace(
            node.status,
            capacity=self._value(node.status.capacity),
            allocatable=self._value(node.status.allocatable),
            node_info=self._value(node.status.node_info),
            runtime_handlers=self._value(node.status.runtime_handlers),
            conditions=tuple(map(self._condition, node.status.conditions)),
        )
        one, told = self._texts.setdefault, node.metadata.labels
        labels = dict(zip(map(one, told, told), map(one, told.values(), told.values()), strict=True))
        metadata = replace(node.metadata, labels=labels, annotations=_lasting(node.metadata.annotations))
        return replace(node, metadata=metadata, status=status)

    def _condition(self, told: Condition) -> Condition:
        one, type_, status = self._texts.setdefault, told.type, told.status
        reason, message = told.reason, told.message
        return replace(
            told,
            type=one(type_, type_),
            status=one(status, status),
            reason=one(reason, reason),
            message=one(message, message),
        )

    def _state(self, state: GPUNodeState) -> GPUNodeState:
        """Nodes of one pool have the same files; texts of CDI specifications are for `lint --node`, which reads one."""
        runtime, cdi = state.status.runtime, state.status.cdi
        if runtime is not None:
            files = tuple(replace(f, text=self._text(f.text), sha256=self._text(f.sha256)) for f in runtime.files)
            runtime = replace(runtime, files=files, handlers=self._value(runtime.handlers))
        if cdi is not None:
            cdi = replace(cdi, specs=tuple(replace(spec, text="") for spec in cdi.specs))
        return replace(state, status=replace(state.status, runtime=runtime, cdi=cdi))

    def _text(self, text: str) -> str:
        return self._texts.setdefault(text, text)

    def _value(self, value: T) -> T:
        """The one copy of a value that is decoded already."""
        return cast(T, self._values.setdefault((type(value), self._encode(value)), value)) if value else value


def _without_last_applied(kept: _Kept) -> _Kept:
    labels, annotations, owners = kept
    return labels, _lasting(annotations), owners


def _lasting(annotations: Labels) -> Labels:
    return {name: value for name, value in annotations.items() if name != _LAST_APPLIED}


def _is_well(pod: Any) -> bool:
    if pod.status.phase != "Running" or pod.metadata.deletion_timestamp is not None:
        return False
    for each in pod.status.container_statuses:  # noqa: SIM110 - a generator costs as much again as the list's decoding
        if not each.ready or each.restart_count:
            return False
    return True


def _forget_moments(status: Any) -> None:
    for condition in status.conditions:
        condition.last_transition_time = UNSET
    for each in status.container_statuses + status.init_container_statuses:
        state = each.state
        if state.running is not None:
            state.running.started_at = UNSET
        if state.terminated is not None:
            state.terminated.started_at = state.terminated.finished_at = UNSET


@lru_cache(maxsize=64)
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)
