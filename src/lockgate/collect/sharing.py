"""Keeps one copy of what the objects of long lists have in common, so that 100,000 pods fit in little memory.

Replicas share their containers, tolerations and labels; nodes share label values. A pod that is well loses the moments
of its conditions and containers, which differ from pod to pod and which no rule asks of a pod that is well.
"""

import hashlib
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec.structs import replace

from lockgate.model.node_state import GPUNodeState
from lockgate.model.objects import ContainerState, ContainerStatus, Labels, Node, Pod, PodStatus, StateRunning

T = TypeVar("T")
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"  # the whole object once more
_RUNS: Final = ContainerState(running=StateRunning())


class Sharing:
    """The copies of one look at a cluster; objects come out equal to what went in, but for what the module says."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._values: dict[bytes, Any] = {}
        self._encoder = msgspec.json.Encoder()
        self._shapes: dict[type, Callable[[Any], Any]] = {
            Pod: self._pod,
            Node: self._node,
            GPUNodeState: self._state,
        }

    def shape(self, kind: type[T]) -> Callable[[T], T] | None:
        """What a list of this type passes its objects through; None where sharing gains nothing."""
        return self._shapes.get(kind)

    def _pod(self, pod: Pod) -> Pod:
        metadata = replace(
            pod.metadata,
            namespace=self._text(pod.metadata.namespace),
            labels=self._value(pod.metadata.labels),
            annotations=self._annotations(pod.metadata.annotations),
            owner_references=self._value(pod.metadata.owner_references),
        )
        volumes = tuple(v for v in pod.spec.volumes if v.has_source)
        spec = self._value(replace(pod.spec, node_name="", volumes=volumes))
        spec = replace(spec, node_name=self._text(pod.spec.node_name))
        return replace(pod, metadata=metadata, spec=spec, status=self._status(pod))

    def _status(self, pod: Pod) -> PodStatus:
        """All that a pod that is well tells of itself but its start is shared."""
        status = pod.status
        if not _is_well(pod):
            return status
        shared = replace(
            status,
            start_time=None,
            conditions=tuple(replace(c, last_transition_time=None) for c in status.conditions),
            container_statuses=tuple(map(_lasting, status.container_statuses)),
        )
        return replace(self._value(shared), start_time=status.start_time)

    def _node(self, node: Node) -> Node:
        status = replace(
            node.status,
            capacity=self._value(node.status.capacity),
            allocatable=self._value(node.status.allocatable),
            node_info=self._value(node.status.node_info),
            runtime_handlers=self._value(node.status.runtime_handlers),
        )
        labels = {self._text(name): self._text(value) for name, value in node.metadata.labels.items()}
        metadata = replace(node.metadata, labels=labels, annotations=self._annotations(node.metadata.annotations))
        return replace(node, metadata=metadata, status=status)

    def _state(self, state: GPUNodeState) -> GPUNodeState:
        """Nodes of one pool have the same files; texts of CDI specifications are for `lint --node`, which reads one."""
        runtime, cdi = state.status.runtime, state.status.cdi
        if runtime is not None:
            files = tuple(replace(f, text=self._text(f.text), sha256=self._text(f.sha256)) for f in runtime.files)
            runtime = replace(runtime, files=files, handlers=self._value(runtime.handlers))
        if cdi is not None:
            cdi = replace(cdi, specs=tuple(replace(spec, text="") for spec in cdi.specs))
        return replace(state, status=replace(state.status, runtime=runtime, cdi=cdi))

    def _annotations(self, annotations: Labels) -> Labels:
        return self._value({name: value for name, value in annotations.items() if name != _LAST_APPLIED})

    def _text(self, text: str) -> str:
        return self._texts.setdefault(text, text)

    def _value(self, value: T) -> T:
        if not value:
            return value
        key = hashlib.blake2b(self._encoder.encode(value), digest_size=16).digest()
        return cast(T, self._values.setdefault(key, value))


def _is_well(pod: Pod) -> bool:
    statuses = pod.status.container_statuses
    runs = pod.status.phase == "Running" and pod.metadata.deletion_timestamp is None
    return runs and all(s.ready and not s.restart_count for s in statuses)


def _lasting(status: ContainerStatus) -> ContainerStatus:
    return replace(status, state=_RUNS) if status.state.running else status
