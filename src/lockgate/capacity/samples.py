"""The capacity answer as samples of metrics: the numbers of the tables, and how many requests of a size would fit.

One function for `capacity -o prometheus` and for the operator's gauges. Sums are by product and resource, never by node
or pod, so that the number of series does not grow with the cluster.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from lockgate.capacity.demand import Waiting
from lockgate.capacity.fragmentation import fragmentation
from lockgate.capacity.node_capacity import NodeCapacity
from lockgate.capacity.table import By, Row, rows
from lockgate.scheduling.scene import Scene

SIZES = (1, 2, 4, 8)  # slots of a request for which it is said how many would fit


class Described(NamedTuple):
    """A gauge: what it says, and the labels of its samples."""

    text: str
    labels: tuple[str, ...]


GAUGES: Mapping[str, Described] = {
    "lockgate_gpu_slots": Described(
        "Advertised slots by state: requested, headroom, locked, unhealthy, overheld, idle",
        ("product", "resource", "state"),
    ),
    "lockgate_gpu_largest_request": Described(
        "Slots of the largest request that fits one open node", ("product", "resource")
    ),
    "lockgate_gpu_requests_that_fit": Described(
        "Requests of this many slots that fit now", ("product", "resource", "size")
    ),
    "lockgate_gpu_stranded_slots": Described(
        "Headroom in pieces smaller than a request of this size", ("product", "resource", "size")
    ),
    "lockgate_gpu_waiting_slots": Described("Slots that pods without a node ask for", ("resource",)),
}
_STATES = ("requested", "headroom", "locked", "unhealthy", "overheld", "idle")


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One value of one gauge."""

    name: str
    labels: Mapping[str, str]
    value: int


def samples(nodes: Iterable[NodeCapacity], scene: Scene, waits: Iterable[Waiting]) -> tuple[Sample, ...]:
    """Every sample, in the order of GAUGES and of products."""
    nodes = tuple(nodes)
    by_product = [row for row in rows(nodes, By.PRODUCT) if row.resource]
    found = [
        *(sample for row in by_product for sample in _slots(row)),
        *(_sample("largest_request", row, row.largest) for row in by_product if row.largest is not None),
        *(sample for row in by_product for sample in _fragments(row, nodes, scene)),
        *_waiting(waits),
    ]
    return tuple(sorted(found, key=lambda sample: list(GAUGES).index(sample.name)))


def _slots(row: Row) -> Iterator[Sample]:
    for state in _STATES:
        count: int | None = getattr(row, state)
        if count is not None:  # what was not measured has no sample: 0 would be a statement
            yield _sample("slots", row, count, state=state)


def _fragments(row: Row, nodes: Iterable[NodeCapacity], scene: Scene) -> Iterator[Sample]:
    same = [node for node in nodes if node.product == row.key]
    for size in SIZES:
        found = fragmentation(same, scene, row.resource, {row.resource: size})
        yield _sample("requests_that_fit", row, found.copies, size=str(size))
        yield _sample("stranded_slots", row, found.in_pieces, size=str(size))


def _waiting(waits: Iterable[Waiting]) -> Iterator[Sample]:
    asked: dict[str, int] = {}
    for one in waits:
        asked[one.resource] = asked.get(one.resource, 0) + one.count
    for resource, count in sorted(asked.items()):
        yield Sample(name="lockgate_gpu_waiting_slots", labels={"resource": resource}, value=count)


def _sample(name: str, row: Row, value: int, **labels: str) -> Sample:
    about = {"product": row.key, "resource": row.resource, **labels}
    return Sample(name=f"lockgate_gpu_{name}", labels=about, value=value)
