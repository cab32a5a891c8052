"""One GPU node as gate 1 sees it for one pod: the numbers, and what stands in the pod's way there."""

import enum

import msgspec

from lockgate.model.objects import Taint
from lockgate.scheduling.node_fit import Shortage
from lockgate.scheduling.selectors import Miss


class Obstacle(enum.StrEnum):
    """One thing that keeps the pod off a node."""

    CORDON = "cordon"
    TAINT = "taint"
    SELECTOR = "selector"
    NO_RESOURCE = "no-resource"  # capacity absent or 0: no plugin is registered
    GONE = "gone"  # capacity n, allocatable 0: plugin lost, or every device unhealthy
    UNHEALTHY = "unhealthy"  # it would fit if all devices were healthy
    HELD = "held"  # healthy devices, none left
    TOO_FEW = "too-few"  # some are left, fewer than asked
    OTHER = "other"  # cpu, memory, storage, pod count
    PLACEMENT = "placement"  # host ports, topology spread, pod affinity


SHORT_OF_DEVICES = frozenset((Obstacle.HELD, Obstacle.TOO_FEW))


class Holder(msgspec.Struct, frozen=True):
    """A pod that counts against a node, and how many of the asked resource it takes."""

    pod: str  # namespace/name
    count: int
    terminating: bool = False


class GateRow(msgspec.Struct, frozen=True, kw_only=True):
    """One GPU node as gate 1 sees it for this pod; `requested` is None where the pods on it are not known."""

    node: str
    asked: int
    capacity: int
    allocatable: int
    known: bool  # the node has the resource's name, be it at 0
    requested: int | None
    obstacles: tuple[Obstacle, ...]
    taints: tuple[Taint, ...] = ()
    misses: tuple[Miss, ...] = ()
    shortages: tuple[Shortage, ...] = ()
    holders: tuple[Holder, ...] = ()
    placement: tuple[str, ...] = ()  # the scheduler's words for PLACEMENT
    others: tuple[str, ...] = ()  # GPU resources of other names that it advertises
    named: tuple[str, ...] = ()  # pods that a description names there, whether they hold any or not
    for_machines: bool = False  # its GPUs are given to virtual machines, never to containers

    @property
    def headroom(self) -> int | None:
        """Allocatable less requested, never below 0; None where requested is not known."""
        return None if self.requested is None else max(self.allocatable - self.requested, 0)

    @property
    def largest(self) -> int:
        """What the node could give if nothing held it."""
        return max(self.allocatable, self.capacity)

    def only_devices_short(self) -> bool:
        """Whether nothing but the number of devices stands in the way, or nothing at all."""
        return all(o in SHORT_OF_DEVICES for o in self.obstacles)

    def arithmetic(self) -> str:
        """The numbers as a person would write them down."""
        if not self.known:
            return "not advertised (no capacity, no allocatable)"
        requested = "unknown" if self.requested is None else str(self.requested)
        headroom = "" if self.headroom is None else f", headroom {self.headroom}"
        return f"capacity {self.capacity}, allocatable {self.allocatable}, requested {requested}{headroom}"
