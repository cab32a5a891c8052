"""Memory that MIG devices on a GPU leave to nobody: free slices that no profile can use beside what is there."""

from collections import Counter
from collections.abc import Iterable
from functools import cache

import msgspec

from lockgate.capacity.slots import number
from lockgate.mig.geometry import Board, board_of
from lockgate.mig.placements import layouts, leftover_gb, multiset
from lockgate.model import names
from lockgate.model.node_state import Device, GPUNodeState
from lockgate.model.objects import Node
from lockgate.scheduling.requests import amounts

_Multiset = tuple[tuple[str, int], ...]


class MigGpu(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One partitioned GPU: its devices by profile, and gigabytes lost at least (None for a board that is not known)."""

    node: str
    gpu: str
    profiles: _Multiset
    lost_gb: int | None


def mig_gpus(states: Iterable[GPUNodeState], nodes: Iterable[Node] = ()) -> tuple[MigGpu, ...]:
    """Every partitioned GPU that a node's agent lists, by node and index.

    Of a node without an agent one stands for all, where its devices divide by its GPUs: cut alike, as the stock
    configurations do.
    """
    listed = [gpu for state in states if state.status.devices for gpu in _of(state.name, state.status.devices.devices)]
    known = {gpu.node for gpu in listed}
    alike = (gpu for node in nodes if node.name not in known and (gpu := _alike(node)))
    return tuple(sorted((*listed, *alike), key=lambda gpu: (gpu.node, gpu.gpu)))


def lost_gb(board: Board, profiles: Iterable[str]) -> int | None:
    """Gigabytes lost at least, wherever the devices lie; None when they cannot lie on one such GPU at all."""
    spelt = [shape.name if (shape := board.shape(name)) else name for name in profiles]
    return _losses(board).get(tuple(sorted(Counter(spelt).items())))


def profiles_by_gpu(devices: Iterable[Device]) -> dict[str, tuple[str, ...]]:
    """The MIG profiles on each GPU of a node, as its agent lists the devices (index `GPU:device`)."""
    found: dict[str, tuple[str, ...]] = {}
    for device in devices:
        gpu, is_mig, _ = device.index.partition(":")
        if is_mig and device.resource.startswith(names.MIG_PREFIX):
            found[gpu] = (*found.get(gpu, ()), device.resource.removeprefix(names.MIG_PREFIX))
    return found


def _of(node: str, devices: tuple[Device, ...]) -> Iterable[MigGpu]:
    for gpu, profiles in sorted(profiles_by_gpu(devices).items()):
        board = _board(device for device in devices if device.index.partition(":")[0] == gpu)
        counted = tuple(sorted(Counter(profiles).items()))
        yield MigGpu(node=node, gpu=gpu, profiles=counted, lost_gb=lost_gb(board, profiles) if board else None)


def _alike(node: Node) -> MigGpu | None:
    labels, advertised = node.metadata.labels, amounts(node.status.capacity)
    counts = {name.removeprefix(names.MIG_PREFIX): n for name, n in advertised.items() if n and _is_mig(name)}
    if not counts:
        return None
    gpus = number(labels, names.GPU_COUNT)
    board = board_of(labels.get(names.GPU_PRODUCT, ""), number(labels, names.GPU_MEMORY))
    if not gpus or board is None or any(count % gpus for count in counts.values()):
        return None
    each = {profile: count // gpus for profile, count in counts.items()}
    lost = lost_gb(board, [profile for profile, count in each.items() for _ in range(count)])
    which = "0" if gpus == 1 else f"each of {gpus}"
    return MigGpu(node=node.name, gpu=which, profiles=tuple(sorted(each.items())), lost_gb=lost)


def _is_mig(resource: str) -> bool:
    return resource.startswith(names.MIG_PREFIX)


def _board(devices: Iterable[Device]) -> Board | None:
    """The board by its product; a MIG device's memory is its own, so that only a name that says the variant will do."""
    product = next(iter(devices)).product.partition("-MIG-")[0].partition(" MIG ")[0]
    return next((b for gb in (24, 40, 80, 94, 96, 141, 144, 180, 186) if (b := _named(product, gb))), None)


def _named(product: str, gigabytes: int) -> Board | None:
    board = board_of(product, gigabytes * 1024)
    return board if board and f"{gigabytes}GB" in product.upper() else None


@cache
def _losses(board: Board) -> dict[_Multiset, int]:
    """The least loss of every set of devices that can lie on the board."""
    losses: dict[_Multiset, int] = {}
    for layout in layouts(board):
        there, lost = multiset(layout), leftover_gb(board, layout)
        losses[there] = min(lost, losses.get(there, lost))
    return losses
