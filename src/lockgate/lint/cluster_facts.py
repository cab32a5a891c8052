"""What a cluster says that a manifest is judged against: its RuntimeClasses, and its GPU nodes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lockgate.model.objects import Taint


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuNode:
    """A node that advertises GPUs; `capacity` has their resources, also those of which there are none at the moment.

    `injects` is None where it is not known whether a pod without a class gets devices. `cuda` is the newest CUDA that
    its driver can run; `shared` names resources of which several slots are one device.
    """

    name: str
    capacity: Mapping[str, int]
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    cuda: tuple[int, int] | None = None
    shared: frozenset[str] = frozenset()
    injects: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """`runtime_classes` is None where they may not be read."""

    nodes: tuple[GpuNode, ...] = ()
    runtime_classes: frozenset[str] | None = None

    def offering(self, resources: frozenset[str]) -> tuple[GpuNode, ...]:
        """The nodes that have some of each of these resources."""
        return tuple(node for node in self.nodes if all(node.capacity.get(name, 0) > 0 for name in resources))
