"""A node seen through the eyes of a pod that asks for all of its GPUs: so the rules about pods speak about nodes too.

The pod exists only here. It tolerates the taints that the node has (on GPU nodes they are meant) but for the cordon,
and wants nothing but devices, so that what stands in its way is the node's own trouble: no plugin, unhealthy devices.
"""

from functools import lru_cache

import msgspec

from lockgate.diagnosis.gate_row import GateRow, Holder
from lockgate.diagnosis.views.gate_one import GateOne, gate_on
from lockgate.diagnosis.views.places import Places
from lockgate.model import names
from lockgate.model.facts import Missing, RuntimeClasses
from lockgate.model.objects import Container, Node, Pod, PodSpec, ResourceRequirements
from lockgate.model.told import ToldNode
from lockgate.scheduling.requests import amounts
from lockgate.scheduling.taints import toleration_for

_CORDON = "node.kubernetes.io/unschedulable"


def probe(node: Node | None, runtime_classes: RuntimeClasses | Missing) -> Pod:
    """The pod that would take every GPU of a node; without a node one that asks for a single GPU anywhere."""
    taints = [t for t in node.spec.taints if t.key != _CORDON] if node else []
    return Pod(
        spec=PodSpec(
            node_name=node.name if node else "",
            containers=_container(*(_most(node) if node else (names.GPU, 1))),
            tolerations=tuple(map(toleration_for, taints)),
            runtime_class_name=_class(runtime_classes),
        )
    )


@lru_cache(maxsize=256)
def _container(resource: str, count: int) -> tuple[Container, ...]:
    """One for all nodes that are alike, so that what it asks for is added up once."""
    limits: dict[str, str | int | float] = {resource: str(count)}
    return (Container(name="all", resources=ResourceRequirements(requests=limits, limits=limits)),)


def gate_of(asking: Pod, node: Node, places: Places) -> GateOne:
    """Gate 1 of one node for its probe: judged as if nothing held its devices, and shown with who holds them."""
    judged = gate_on(node, places.vacant, asking)
    here = places.on(node.name)
    if here is None and isinstance(node, ToldNode) and node.requested:
        requested = amounts(node.requested).get(judged.resource, 0)
        rows = (msgspec.structs.replace(row, requested=requested, named=node.pods) for row in judged.rows)
        return msgspec.structs.replace(judged, rows=tuple(rows))
    held = None if here is None else places.holders(node, judged.resource)
    return msgspec.structs.replace(judged, rows=tuple(_with(row, held) for row in judged.rows))


def _with(row: GateRow, held: tuple[Holder, ...] | None) -> GateRow:
    """Who holds its devices, and how many; None where that is not known, as where the node tells of no resources."""
    known = held is not None and row.requested is not None
    requested = sum(h.count for h in held) if held is not None and known else None
    return msgspec.structs.replace(row, requested=requested, holders=held or ())


def _most(node: Node) -> tuple[str, int]:
    """The GPU resource to ask for: where most is unhealthy, then where most is; one GPU where none is advertised."""
    capacity, allocatable = amounts(node.status.capacity), amounts(node.status.allocatable)
    offered = [n for n in sorted(capacity) if names.is_gpu_resource(n)]
    best = max(offered, key=lambda n: (capacity[n] - allocatable.get(n, 0), capacity[n]), default=names.GPU)
    return best, max(capacity.get(best, 0), 1)


def _class(classes: RuntimeClasses | Missing) -> str | None:
    """RuntimeClass nvidia where the cluster has it: the operands need its handler on every GPU node."""
    known = () if isinstance(classes, Missing) else classes
    return next((c.name for c in known if c.name == names.HANDLERS[0]), None)
