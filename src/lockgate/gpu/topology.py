"""How near two GPUs are: PCI distance and direct NVLinks, pair by pair. A pair that cannot be read is absent."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import msgspec
import pynvml

from lockgate.gpu.reading import read
from lockgate.gpu.values import Gpu, Unread


class Pair(msgspec.Struct, frozen=True):
    """Two GPUs by UUID: `level` is NVML's common ancestor (0 same board ... 50 across CPUs), `nvlinks` direct links."""

    one: str
    other: str
    level: int
    nvlinks: int


def read_pairs(gpus: tuple[Gpu, ...]) -> tuple[Pair, ...]:
    """Every pair that answers. NVML must be open, and the call made from its thread."""
    handles = {gpu.uuid: read(pynvml.nvmlDeviceGetHandleByUUID, gpu.uuid) for gpu in gpus}
    links = {uuid: _remote_bus_ids(handle) for uuid, handle in handles.items() if not isinstance(handle, Unread)}
    return tuple(_pairs(gpus, handles, links))


def _pairs(gpus: tuple[Gpu, ...], handles: dict[str, Any], links: dict[str, list[str]]) -> Iterator[Pair]:
    for one, other in combinations((gpu for gpu in gpus if gpu.uuid in links), 2):
        level = read(pynvml.nvmlDeviceGetTopologyCommonAncestor, handles[one.uuid], handles[other.uuid])
        if not isinstance(level, Unread):
            yield Pair(one.uuid, other.uuid, level, links[one.uuid].count(other.bus_id.lower()))


def _remote_bus_ids(handle: Any) -> list[str]:
    """The far end of every active link of this GPU."""
    found = []
    for link in range(pynvml.NVML_NVLINK_MAX_LINKS):
        active = read(pynvml.nvmlDeviceGetNvLinkState, handle, link)
        if isinstance(active, Unread) or not active:
            continue
        remote = read(pynvml.nvmlDeviceGetNvLinkRemotePciInfo, handle, link)
        if not isinstance(remote, Unread):
            found.append(str(remote.busId).lower())
    return found
