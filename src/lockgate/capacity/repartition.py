"""Re-partitioning idle GPU nodes under MIG: what each stock configuration would make of them.

Offered for whole nodes whose GPUs no pod holds, of a known board, with the device plugin's strategy `mixed` (only then
do MIG devices have names of their own). NVIDIA's MIG manager applies a configuration to all GPUs of a node.
"""

from collections.abc import Iterable, Iterator

import msgspec

from lockgate.capacity.slots import number
from lockgate.mig.configurations import DISABLED, Profiles, configurations, lost_gb, resource_name
from lockgate.mig.geometry import Board, board_of
from lockgate.model import names
from lockgate.model.objects import Node
from lockgate.scheduling.node_fit import Room
from lockgate.scheduling.scene import NodeView, node_view

_STRATEGY = "nvidia.com/mig.strategy"


class Repartition(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration for one node, what each of its GPUs becomes, and the node as it would be."""

    config: str
    each: str
    after: NodeView


class Option(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What one configuration makes of each GPU, and the gigabytes of it that no profile can use then."""

    config: str
    devices: Profiles
    lost_gb: int


class Partitionable(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Idle nodes of one product that could be partitioned anew, and every configuration that they could have."""

    product: str
    nodes: tuple[str, ...]
    gpus: int
    options: tuple[Option, ...]


def repartitions(view: NodeView, resources: Iterable[str]) -> tuple[Repartition, ...]:
    """The configurations that would give a node all of these resources; none where it cannot be partitioned anew."""
    board, gpus = partitionable(view)
    if board is None:
        return ()
    made = ((config, _devices(board, config, gpus)) for config in configurations(board))
    fitting = ((config, devices) for config, devices in made if all(devices.get(name) for name in resources))
    return tuple(_applied(view, board, config, devices) for config, devices in fitting)


def reconfigured(view: NodeView, config: str) -> NodeView | None:
    """The node under a named configuration; None where it cannot be partitioned, or its board has none of that name."""
    board, gpus = partitionable(view)
    if board is None or config not in configurations(board):
        return None
    return _applied(view, board, config, _devices(board, config, gpus)).after


def partitionable(view: NodeView) -> tuple[Board | None, int]:
    """The board of a node whose GPUs could be partitioned anew, and how many there are; None where they could not."""
    labels = view.node.metadata.labels
    gpus = number(labels, names.GPU_COUNT) or 0
    if not gpus or labels.get(_STRATEGY) != "mixed" or _held(view.room):
        return None, 0
    return board_of(labels.get(names.GPU_PRODUCT, ""), number(labels, names.GPU_MEMORY)), gpus


def no_such_profile(resources: Iterable[str], views: Iterable[NodeView]) -> tuple[str, ...]:
    """For each MIG resource that no known board of these nodes has, the profiles that there are."""
    labels = [view.node.metadata.labels for view in views]
    boards = {board_of(each.get(names.GPU_PRODUCT, ""), number(each, names.GPU_MEMORY)) for each in labels} - {None}
    known = sorted({resource_name(shape) for board in boards if board for shape in board.shapes})
    asked = [name.removeprefix(names.MIG_PREFIX) for name in resources if name.startswith(names.MIG_PREFIX)]
    return tuple(
        f"no board here has the profile {name}, but {', '.join(known)}" for name in asked if _lacks(known, name)
    )


def _lacks(known: list[str], name: str) -> bool:
    return bool(known) and name not in known


def partitionables(views: Iterable[NodeView]) -> tuple[Partitionable, ...]:
    """What could be made of idle nodes, by product."""
    found: dict[tuple[str, str], tuple[Board, list[str], int]] = {}
    for view in views:
        board, gpus = partitionable(view)
        if board is not None:
            product = view.node.metadata.labels.get(names.GPU_PRODUCT, "")
            _, known, so_far = found.get((product, board.key), (board, [], 0))
            found[product, board.key] = (board, [*known, view.name], so_far + gpus)
    return tuple(
        Partitionable(product=product, nodes=tuple(known), gpus=gpus, options=tuple(_options(board)))
        for (product, _), (board, known, gpus) in sorted(found.items(), key=lambda each: each[0])
    )


def _options(board: Board) -> Iterator[Option]:
    for config, devices in configurations(board).items():
        if devices:
            yield Option(config=config, devices=devices, lost_gb=lost_gb(board, config))


def _held(room: Room) -> bool:
    return any(count for name, count in room.requested.items() if names.is_gpu_resource(name))


def _devices(board: Board, config: str, gpus: int) -> dict[str, int]:
    """The resources of a node under a configuration."""
    if config == DISABLED:
        return {names.GPU: gpus}
    made = configurations(board)[config].items()
    return {f"{names.MIG_PREFIX}{name.replace('+', '.')}": gpus * count for name, count in made}


def _applied(view: NodeView, board: Board, config: str, devices: dict[str, int]) -> Repartition:
    status = view.node.status
    given = {name: str(count) for name, count in devices.items()}
    after = msgspec.structs.replace(
        status,
        capacity=_without_gpus(status.capacity) | given,
        allocatable=_without_gpus(status.allocatable) | given,
    )
    node: Node = msgspec.structs.replace(view.node, status=after)
    each = " + ".join(f"{count} x {name}" for name, count in configurations(board)[config].items())
    whole = "a whole GPU" if config == DISABLED else "partitioned, without instances"
    return Repartition(config=config, each=each or whole, after=node_view(node, view.pods))


def _without_gpus(quantities: dict[str, str]) -> dict[str, str]:
    """The names stay, at 0: a kubelet keeps them."""
    return {name: "0" if names.is_gpu_resource(name) else quantity for name, quantity in quantities.items()}
