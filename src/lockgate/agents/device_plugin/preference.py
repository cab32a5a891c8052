"""Which free devices to take: near each other, and so that near ones stay together for the next request.

Whole GPUs: among all choices that hold the required ones, the one whose pairs score highest; of equals the one that
leaves the highest score behind, then the lowest indexes. Shared and MIG devices: one after the other from the GPU with
the fewest (`distributed`) or most (`packed`) of its units taken. A GPU that does not answer merely scores nothing:
NVIDIA's plugin fails the pod then (k8s-device-plugin#231).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Final

from lockgate.agents.device_plugin.devices import SEPARATOR, PluginDevice, Slot
from lockgate.gpu.topology import Pair
from lockgate.kubelet.device_plugin_server import RefusedError
from lockgate.kubelet.messages import PreferenceRequest

Scores = Mapping[frozenset[str], int]
"""GPU pair by UUID -> how near they are."""

# NVML's common ancestor -> score: same board, one switch, several switches, host bridge, one CPU, across CPUs.
_LEVELS: Final = {0: 60, 10: 50, 20: 40, 30: 30, 40: 20, 50: 10}
_NVLINK: Final = 100
_EXHAUSTIVE: Final = 13_000  # choices: 8 of 16 GPUs are 12,870


def score_pairs(pairs: Iterable[Pair]) -> Scores:
    """NVIDIA's scores: PCI distance, and a hundred for each NVLink."""
    return {frozenset((pair.one, pair.other)): _LEVELS.get(pair.level, 0) + _NVLINK * pair.nvlinks for pair in pairs}


def prefer(
    request: PreferenceRequest, slots: Mapping[str, Slot], scores: Scores, *, packed: bool = False
) -> tuple[str, ...]:
    """The ids to take, required ones first; raises RefusedError when there are too few."""
    required = tuple(dict.fromkeys(request.required))
    free = [id for id in dict.fromkeys(request.available) if id not in required]
    missing = request.size - len(required)
    if missing > len(free):
        raise RefusedError("not enough available devices to satisfy allocation")
    if missing <= 0:
        return required[: request.size]
    whole = all(_is_whole(id, slots) for id in (*required, *free))
    if whole:
        return required + _nearest(required, free, missing, slots, scores)
    return required + _spread(required, free, missing, slots, packed=packed)


def _is_whole(id: str, slots: Mapping[str, Slot]) -> bool:
    return SEPARATOR not in id and (id not in slots or slots[id].device.gpu_instance is None)


def _nearest(
    required: Sequence[str], free: Sequence[str], count: int, slots: Mapping[str, Slot], scores: Scores
) -> tuple[str, ...]:
    ordered = sorted(free, key=lambda id: _order(id, slots))
    if comb(len(ordered), count) > _EXHAUSTIVE:
        return _nearest_greedily(required, ordered, count, slots, scores)

    def worth(choice: tuple[str, ...]) -> tuple[int, int]:
        rest = [id for id in ordered if id not in choice]
        return _total((*required, *choice), slots, scores), _total(rest, slots, scores)

    return max(combinations(ordered, count), key=worth)  # of equals the first: lowest indexes


def _nearest_greedily(
    required: Sequence[str], ordered: Sequence[str], count: int, slots: Mapping[str, Slot], scores: Scores
) -> tuple[str, ...]:
    chosen: tuple[str, ...] = ()
    for _ in range(count):
        rest = [id for id in ordered if id not in chosen]
        near = [sum(_score(id, other, slots, scores) for other in (*required, *chosen)) for id in rest]
        chosen += (rest[near.index(max(near))],)
    return chosen


def _total(ids: Sequence[str], slots: Mapping[str, Slot], scores: Scores) -> int:
    return sum(_score(one, other, slots, scores) for one, other in combinations(ids, 2))


def _score(one: str, other: str, slots: Mapping[str, Slot], scores: Scores) -> int:
    """The pair's score; where the driver tells none, that of GPUs on one NUMA node, or not."""
    known = scores.get(frozenset((one, other)))
    if known is not None:
        return known
    nodes = [_device(id, slots).numa_node if id in slots else None for id in (one, other)]
    return _LEVELS[40] if nodes[0] is not None and nodes[0] == nodes[1] else 0


def _device(id: str, slots: Mapping[str, Slot]) -> PluginDevice:
    return slots[id].device


def _order(id: str, slots: Mapping[str, Slot]) -> tuple[int, ...]:
    if id not in slots:
        return (1 << 30,)
    return tuple(int(part) for part in slots[id].device.index.split(":"))


def _spread(
    required: Sequence[str], free: Sequence[str], count: int, slots: Mapping[str, Slot], *, packed: bool
) -> tuple[str, ...]:
    """One id after the other; a GPU's taken units are those that exist but are not offered, plus those just chosen."""
    left = dict.fromkeys((_gpu(id, slots) for id in (*required, *free)), 0)
    total = dict(left)
    for id in free:
        left[_gpu(id, slots)] += 1
    for slot in slots.values():
        if slot.device.gpu in total:
            total[slot.device.gpu] += 1
    picked = dict.fromkeys(total, 0)
    ordered = sorted(free, key=lambda id: (*_order(id, slots), id))
    chosen: list[str] = []
    for _ in range(count):
        sign = -1 if packed else 1
        best = min(
            (id for id in ordered if id not in chosen),
            key=lambda id: (
                sign * (total[_gpu(id, slots)] - left[_gpu(id, slots)]),
                picked[_gpu(id, slots)],
                ordered.index(id),
            ),
        )
        chosen.append(best)
        left[_gpu(best, slots)] -= 1
        picked[_gpu(best, slots)] += 1
    return tuple(chosen)


def _gpu(id: str, slots: Mapping[str, Slot]) -> str:
    return slots[id].device.gpu if id in slots else id.partition(SEPARATOR)[0]
