"""Re-partitioning idle GPU nodes under MIG: what each stock configuration would make of them.

Offered for whole nodes whose GPUs no pod holds, of a known board, where the device plugin hands out MIG devices: under
the strategy `mixed` by names of their own, under `single` as `nvidia.com/gpu`. NVIDIA's MIG manager applies a
configuration to all GPUs of a node.
"""

from collections.abc import Iterable, Iterator

import msgspec

from lockgate.capacity.cuttable import SINGLE, Cuttable, cuttable, no_configuration, single_product
from lockgate.capacity.slots import number
from lockgate.mig.configurations import DISABLED, ENABLED, Profiles, configurations, lost_gb, resource_name
from lockgate.mig.geometry import board_of
from lockgate.model import names
from lockgate.model.objects import Labels, Node
from lockgate.scheduling.scene import NodeView, node_view

_MOST_NODES = 6  # named in one reason


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
    """The configurations that would give a node all of these resources by their own names; none where it cannot be
    partitioned anew. Under `single` every device is a GPU by name: which one is meant only the pod's product tells.
    """
    found = cuttable(view)
    if isinstance(found, str) or found.strategy == SINGLE:
        return ()
    made = ((config, _devices(found, config)) for config in _possible(found))
    fitting = (config for config, devices in made if all(devices.get(name) for name in resources))
    return tuple(_applied(view, found, config) for config in fitting)


def as_single(view: NodeView, profile: str) -> tuple[Repartition, str] | None:
    """A node of the strategy `single` cut into that profile, and the product that selects its devices; None where it
    cannot be. A node that is cut so already stays as it is.
    """
    found = cuttable(view)
    if isinstance(found, str) or found.strategy != SINGLE or no_configuration(found, f"all-{profile}"):
        return None
    return _applied(view, found, f"all-{profile}"), single_product(found, profile)


def reconfigured(view: NodeView, config: str) -> NodeView | str:
    """The node under a named configuration, or why it cannot have it."""
    found = cuttable(view)
    if isinstance(found, str):
        return found
    return no_configuration(found, config) or _applied(view, found, config).after


def no_such_profile(resources: Iterable[str], views: Iterable[NodeView]) -> tuple[str, ...]:
    """For each MIG resource that no known board of these nodes has, the profiles that there are."""
    labels = [view.node.metadata.labels for view in views]
    boards = {board_of(each.get(names.GPU_PRODUCT, ""), number(each, names.GPU_MEMORY)) for each in labels} - {None}
    known = sorted({resource_name(shape) for board in boards if board for shape in board.shapes})
    asked = [name.removeprefix(names.MIG_PREFIX) for name in resources if name.startswith(names.MIG_PREFIX)]
    return tuple(
        f"no board here has the profile {name}, but {', '.join(known)}" for name in asked if _lacks(known, name)
    )


def not_cuttable(resources: Iterable[str], views: Iterable[NodeView]) -> tuple[str, ...]:
    """Where a MIG resource is asked: which nodes without it cannot be partitioned anew, by the reason."""
    asked = [name for name in resources if name.startswith(names.MIG_PREFIX)]
    why: dict[str, list[str]] = {}
    for view in views:
        lacking = any(not view.room.allocatable.get(name) for name in asked)
        if lacking and isinstance(reason := cuttable(view), str):
            why.setdefault(reason, []).append(view.name)
    return tuple(f"{_few(nodes)} cannot be re-partitioned: {reason}" for reason, nodes in why.items())


def _few(nodes: list[str]) -> str:
    more = len(nodes) - _MOST_NODES
    return ", ".join(nodes[:_MOST_NODES]) + (f" and {more} more" if more > 0 else "")


def _lacks(known: list[str], name: str) -> bool:
    return bool(known) and name not in known


def partitionables(views: Iterable[NodeView]) -> tuple[Partitionable, ...]:
    """What could be made of idle nodes, by product."""
    found: dict[tuple[str, str, str], list[tuple[str, Cuttable]]] = {}
    for view in views:
        if isinstance(cut := cuttable(view), Cuttable):
            found.setdefault((cut.product, cut.board.key, cut.strategy), []).append((view.name, cut))
    return tuple(
        Partitionable(
            product=product,
            nodes=tuple(name for name, _ in alike),
            gpus=sum(cut.gpus for _, cut in alike),
            options=tuple(_options(alike[0][1])),
        )
        for (product, _, _), alike in sorted(found.items(), key=lambda each: each[0])
    )


def _options(of: Cuttable) -> Iterator[Option]:
    for config in _possible(of):
        if devices := configurations(of.board)[config]:
            yield Option(config=config, devices=devices, lost_gb=lost_gb(of.board, config))


def _possible(of: Cuttable) -> Iterator[str]:
    return (config for config in configurations(of.board) if not no_configuration(of, config))


def _devices(of: Cuttable, config: str) -> dict[str, int]:
    """The resources of a node under a configuration."""
    if config == DISABLED:
        return {names.GPU: of.gpus}
    made = configurations(of.board)[config].items()
    if of.strategy == SINGLE:
        return {names.GPU: of.gpus * sum(count for _, count in made)}
    return {f"{names.MIG_PREFIX}{name.replace('+', '.')}": of.gpus * count for name, count in made}


def _applied(view: NodeView, of: Cuttable, config: str) -> Repartition:
    status, metadata = view.node.status, view.node.metadata
    devices = _devices(of, config)
    given = {name: str(count) for name, count in devices.items()}
    after = msgspec.structs.replace(
        status,
        capacity=_without_gpus(status.capacity) | given,
        allocatable=_without_gpus(status.allocatable) | given,
    )
    if of.strategy == SINGLE:
        labels = _single_labels(metadata.labels, of, config, devices[names.GPU])
        metadata = msgspec.structs.replace(metadata, labels=labels)
    node: Node = msgspec.structs.replace(view.node, metadata=metadata, status=after)
    each = " + ".join(f"{count} x {name}" for name, count in configurations(of.board)[config].items())
    whole = "a whole GPU" if config == DISABLED else "partitioned, without instances"
    return Repartition(config=config, each=each or whole, after=node_view(node, view.pods))


def _single_labels(labels: Labels, of: Cuttable, config: str, devices: int) -> Labels:
    """What feature discovery writes under `single`: the devices as if they were the GPUs.

    The memory of a device is not in the table of boards, so that label goes.
    """
    profile = "" if config == DISABLED else "INVALID" if config == ENABLED else config.removeprefix("all-")
    described = {names.GPU_PRODUCT: single_product(of, profile), names.GPU_COUNT: str(devices)}
    memory = {} if profile else {names.GPU_MEMORY: str(of.board.total_mib)}
    return {key: value for key, value in labels.items() if key != names.GPU_MEMORY} | described | memory


def _without_gpus(quantities: dict[str, str]) -> dict[str, str]:
    """The names stay, at 0: a kubelet keeps them."""
    return {name: "0" if names.is_gpu_resource(name) else quantity for name, quantity in quantities.items()}
