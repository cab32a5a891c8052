"""Re-partitioning idle GPU nodes under MIG: which stock configuration gives the devices that a pod asks for.

Offered for whole nodes whose GPUs no pod holds, of a known board, with the device plugin's strategy `mixed` (only then
do MIG devices have names of their own). Configuration names are those of NVIDIA's MIG manager: `all-<profile>`.
"""

import msgspec

from lockgate.capacity.slots import number
from lockgate.mig.geometry import board_of
from lockgate.model import names
from lockgate.model.objects import Node
from lockgate.scheduling.node_fit import Room
from lockgate.scheduling.scene import NodeView, node_view

_DISABLED = "all-disabled"
_STRATEGY = "nvidia.com/mig.strategy"


class Repartition(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration for one node, what each of its GPUs becomes, and the node as it would be."""

    config: str
    each: str
    after: NodeView


def repartitions(view: NodeView, resource: str) -> tuple[Repartition, ...]:
    """The configurations that would give a node the resource; none where GPUs are held or the board is not known."""
    labels = view.node.metadata.labels
    board = board_of(labels.get(names.GPU_PRODUCT, ""), number(labels, names.GPU_MEMORY))
    gpus = number(labels, names.GPU_COUNT)
    if board is None or not gpus or _held(view.room) or labels.get(_STRATEGY) != "mixed":
        return ()
    if resource == names.GPU:
        return (_applied(view, _DISABLED, "a whole GPU", {resource: gpus}),)
    shape = board.shape(resource.removeprefix(names.MIG_PREFIX))
    if shape is None or not resource.startswith(names.MIG_PREFIX):
        return ()
    config = f"all-{shape.name.replace('+', '.')}"
    return (_applied(view, config, f"{shape.most} x {shape.name}", {resource: gpus * shape.most}),)


def reconfigured(view: NodeView, config: str) -> NodeView | None:
    """The node under a named configuration, `all-disabled` or `all-<profile>`; None where its board has none such."""
    profile = config.removeprefix("all-")
    resource = names.GPU if config == _DISABLED else f"{names.MIG_PREFIX}{profile}"
    found = [repartition for repartition in repartitions(view, resource) if repartition.config == config]
    return found[0].after if found else None


def _held(room: Room) -> bool:
    return any(count for name, count in room.requested.items() if names.is_gpu_resource(name))


def _applied(view: NodeView, config: str, each: str, devices: dict[str, int]) -> Repartition:
    status = view.node.status
    given = {name: str(count) for name, count in devices.items()}
    after = msgspec.structs.replace(
        status,
        capacity=_without_gpus(status.capacity) | given,
        allocatable=_without_gpus(status.allocatable) | given,
    )
    node: Node = msgspec.structs.replace(view.node, status=after)
    return Repartition(config=config, each=each, after=node_view(node, view.pods))


def _without_gpus(quantities: dict[str, str]) -> dict[str, str]:
    """The names stay, at 0: a kubelet keeps them."""
    return {name: "0" if names.is_gpu_resource(name) else quantity for name, quantity in quantities.items()}
