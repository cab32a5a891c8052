"""The MIG model places instances as the boards do."""

from collections import Counter
from functools import cache

import msgspec
import pytest

from lockgate.lab.boards import BOARDS, MIB, parse_boards
from lockgate.lab.codes import NvmlError, Return
from lockgate.lab.identity import profiles
from lockgate.lab.partition import create_gpu_instance, free_starts, remaining
from lockgate.lab.state import Gpu, new_driver
from lockgate.mig.geometry import board_of
from lockgate.mig.products import PRODUCTS, Profile


def _gpu(board: str) -> Gpu:
    (gpu,) = new_driver(parse_boards(board)).gpus
    return msgspec.structs.replace(gpu, mig_mode=True)


def _classic(gpu: Gpu) -> list[Profile]:
    """The five profiles that A100 began with: no media extensions, no double memory."""
    return [profile for profile in profiles(gpu) if profile.id in (19, 14, 9, 5, 0)]


def _layouts(board: str) -> set[frozenset[tuple[int, int]]]:
    """Every layout that can be reached, as (profile, start) of its instances."""
    seen: set[frozenset[tuple[int, int]]] = set()

    def explore(gpu: Gpu) -> None:
        layout = frozenset((instance.profile, instance.start) for instance in gpu.gpu_instances)
        if layout in seen:
            return
        seen.add(layout)
        for profile in _classic(gpu):
            for start in free_starts(gpu, profile):
                explore(create_gpu_instance(gpu, profile, start)[0])

    explore(_gpu(board))
    return seen


@cache
def _a100_layouts() -> set[frozenset[tuple[int, int]]]:
    return _layouts("A100-40GB")


def test_an_a100_has_297_layouts_of_which_19_are_full() -> None:
    layouts = _a100_layouts()
    full = [layout for layout in layouts if not any(layout < other for other in layouts)]

    assert len(layouts) == 297 + 1  # and the empty one
    assert len(full) == 19
    assert len({tuple(sorted(Counter(profile for profile, _ in layout).items())) for layout in full}) == 14


def test_instances_of_one_layout_have_different_ids() -> None:
    gpu = _gpu("A100-40GB")
    by_id = {profile.id: profile for profile in profiles(gpu)}
    for layout in _a100_layouts():
        built = gpu
        for profile, start in sorted(layout):
            built, _ = create_gpu_instance(built, by_id[profile], start)
        ids = [instance.id for instance in built.gpu_instances]
        assert len(set(ids)) == len(ids)
        assert all(0 <= number < 14 for number in ids)


@pytest.mark.parametrize("board", [key for key, board in BOARDS.items() if board.device_id in PRODUCTS])
def test_as_many_instances_fit_as_the_profile_says(board: str) -> None:
    gpu = _gpu(board)

    assert {profile.name: remaining(gpu, profile) for profile in profiles(gpu)} == {
        profile.name: profile.max_count for profile in profiles(gpu)
    }


@pytest.mark.parametrize("board", ["A100-40GB", "A100-80GB", "H100-80GB"])
def test_the_driver_and_the_planner_know_the_same_profiles(board: str) -> None:
    gpu = _gpu(board)
    planned = board_of(gpu.product.name, gpu.product.memory // MIB)

    assert planned is not None
    assert planned.key == board
    assert {(p.name, p.slices, p.size, p.starts, p.max_count) for p in profiles(gpu)} == {
        (s.name, s.slices, s.size, s.starts, s.most) for s in planned.shapes
    }


def test_without_a_place_given_an_instance_goes_to_the_last_one() -> None:
    gpu = _gpu("A100-40GB")
    by_name = {profile.name: profile for profile in profiles(gpu)}

    gpu, half = create_gpu_instance(gpu, by_name["3g.20gb"])
    gpu, other = create_gpu_instance(gpu, by_name["3g.20gb"])

    assert [(half.id, half.start), (other.id, other.start)] == [(1, 4), (2, 0)]
    with pytest.raises(NvmlError) as raised:
        create_gpu_instance(gpu, by_name["1g.5gb"])
    assert raised.value.code == Return.INSUFFICIENT_RESOURCES


def test_three_slices_waste_the_fourth() -> None:
    gpu = _gpu("A100-40GB")
    by_name = {profile.name: profile for profile in profiles(gpu)}

    left, _ = create_gpu_instance(gpu, by_name["3g.20gb"], start=0)
    right, _ = create_gpu_instance(gpu, by_name["3g.20gb"], start=4)

    assert remaining(left, by_name["1g.5gb"]) == 3
    assert remaining(right, by_name["1g.5gb"]) == 4
