"""What a cluster says that a manifest is judged against: its RuntimeClasses, and its GPU nodes."""

from dataclasses import dataclass

from lockgate.model.objects import Taint


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuNode:
    """A node that advertises GPUs. `injects` is None where it is not known whether a pod without a class gets devices.

    `cuda` is the newest CUDA that its driver can run; `shared` names resources of which several slots are one device.
    """

    name: str
    resources: frozenset[str]
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
        """The nodes that advertise all of some resources."""
        return tuple(node for node in self.nodes if resources <= node.resources)
