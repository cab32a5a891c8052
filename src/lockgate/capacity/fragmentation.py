"""How much of what is free a request of a given size can use: headroom that lies in pieces, or behind a full node."""

from collections.abc import Iterable, Mapping

import msgspec

from lockgate.capacity.node_capacity import NodeCapacity
from lockgate.scheduling.node_fit import copies_that_fit
from lockgate.scheduling.scene import Scene


class Fragmentation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """For pods that ask `size` slots each: `copies` of them fit into the `headroom` of the open nodes.

    `in_pieces` is headroom left over in rests smaller than a request, `short_of_others` headroom on nodes that are out
    of cpu, memory or pods first. `largest` is the largest request that any one node takes.
    """

    resource: str
    size: int
    headroom: int
    copies: int
    in_pieces: int
    short_of_others: int
    largest: int

    @property
    def fragmented(self) -> bool:
        """Whether no copy fits although the pieces together would do (catalogue C10)."""
        return self.copies == 0 and self.headroom >= self.size


def fragmentation(
    nodes: Iterable[NodeCapacity], scene: Scene, resource: str, asked: Mapping[str, int]
) -> Fragmentation:
    """Measure the open nodes with a request (in the scheduler's units) that asks for at least one of the resource."""
    size = asked[resource]
    free = {n.node: s.headroom for n in nodes if not n.locked and (s := n.slots_named(resource)) and s.headroom}
    fit = {name: copies_that_fit(asked, scene.nodes[name].room) for name in free}
    by_devices = {name: headroom // size for name, headroom in free.items()}
    return Fragmentation(
        resource=resource,
        size=size,
        headroom=sum(free.values()),
        copies=sum(fit.values()),
        in_pieces=sum(headroom % size for headroom in free.values()),
        short_of_others=sum((by_devices[name] - fit[name]) * size for name in free),
        largest=max(free.values(), default=0),
    )
