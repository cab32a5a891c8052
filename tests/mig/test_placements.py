"""MIG layouts of every board, counted, and what they leave over."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.mig.geometry import BOARDS, Board, board_of
from lockgate.mig.placements import (
    find_layout,
    free_places,
    layouts,
    leftover,
    leftover_gb,
    maximal_layouts,
    multiset,
    places,
)
from lockgate.mig.products import PRODUCTS

A100 = next(board for board in BOARDS if board.key == "A100-40GB")
all_of = cache(maximal_layouts)  # a third of a second a board
A30 = next(board for board in BOARDS if board.key == "A30")


def test_an_a100_has_19_maximal_layouts_of_base_profiles() -> None:
    found = maximal_layouts(A100, classic=True)
    assert len(found) == 19
    assert len({multiset(layout) for layout in found}) == 14
    assert len({multiset(layout) for layout in layouts(A100, classic=True)} - {()}) == 37
    assert len(layouts(A100, classic=True)) == 297 + 1  # and the empty one


def test_an_a30_has_5_maximal_layouts_of_base_profiles() -> None:
    assert len(maximal_layouts(A30, classic=True)) == 5
    assert len({multiset(layout) for layout in layouts(A30, classic=True)} - {()}) == 9


@pytest.mark.parametrize("board", [b for b in BOARDS if b.memory_slices == 8], ids=lambda b: b.key)
def test_every_board_with_seven_slices_has_the_same_geometry(board: Board) -> None:
    assert len(maximal_layouts(board, classic=True)) == 19


@pytest.mark.parametrize("board", BOARDS, ids=lambda b: b.key)
def test_no_layout_of_any_board_overlaps_or_exceeds_a_maximum(board: Board) -> None:
    for layout in all_of(board):
        covered = [s for placement in layout for s in placement.covers]
        assert len(covered) == len(set(covered)) <= board.memory_slices
        assert max(covered) < board.memory_slices
        assert not free_places(board, layout)
        for name, count in multiset(layout):
            shape = board.shape(name)
            assert shape is not None and count <= shape.most


def test_seven_1g_5gb_leave_5_gb_that_nothing_can_use() -> None:
    """The guide: eight memory slices of 5 GB and seven compute slices, so 1g.5gb at most seven times."""
    layout = find_layout(A100, ["1g.5gb"] * 7)
    assert layout is not None
    assert leftover_gb(A100, layout) == 5
    assert find_layout(A100, ["1g.5gb"] * 8) is None


def test_the_place_of_a_3g_decides_what_fits_beside_it() -> None:
    at_0, at_4 = places(A100.shapes[4])
    assert leftover(A100, [at_0]) == 0
    small_beside = [[p.start for p in free_places(A100, [place]) if p.name == "1g.5gb"] for place in (at_0, at_4)]
    assert small_beside == [[4, 5, 6], [0, 1, 2, 3]]


def test_order_of_creation_does_not_matter_to_the_search() -> None:
    for wanted in (["1g.5gb"] * 4 + ["3g.20gb"], ["3g.20gb"] + ["1g.5gb"] * 4):
        layout = find_layout(A100, wanted)
        assert layout is not None and multiset(layout) == (("1g.5gb", 4), ("3g.20gb", 1))


def test_instances_that_stay_keep_their_place() -> None:
    (at_0, _) = places(A100.shapes[4])
    assert find_layout(A100, ["4g.20gb"], fixed=[at_0]) is None
    assert find_layout(A100, ["3g.20gb"], fixed=[at_0]) is not None


def test_an_unknown_profile_names_those_that_exist() -> None:
    with pytest.raises(KeyError, match=r"A30 has no MIG profile 1g\.5gb; it has 1g\.6gb"):
        find_layout(A30, ["1g.5gb"])


def test_names_are_found_in_either_spelling() -> None:
    assert A100.shape("1g.5gb.me") == A100.shape("1g.5gb+me") is not None
    assert A100.shape("1g.6gb") is None


@settings(deadline=None)
@given(st.sampled_from(BOARDS), st.data())
def test_every_layout_can_be_found_from_its_names(board: Board, data: st.DataObject) -> None:
    layout = data.draw(st.sampled_from(all_of(board)))
    found = find_layout(board, [placement.name for placement in layout])
    assert found is not None and multiset(found) == multiset(layout)


@pytest.mark.parametrize(
    ("product", "memory", "key"),
    [
        ("NVIDIA-A100-SXM4-40GB", 40960, "A100-40GB"),
        ("NVIDIA A100 80GB PCIe", 81920, "A100-80GB"),
        ("NVIDIA-H100-80GB-HBM3", 81559, "H100-80GB"),
        ("NVIDIA-H100-NVL", 95830, "H100-94GB"),
        ("NVIDIA-GH200-480GB", 97871, "H100-96GB"),
        ("NVIDIA-H200", 143771, "H200-141GB"),
        ("NVIDIA-GB200", 189471, "GB200-186GB"),
        ("NVIDIA-A30", None, "A30"),
        ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", 97887, "RTX-PRO-6000"),
        ("Tesla-T4", 15360, None),
        ("NVIDIA-A100-SXM4-40GB", None, None),
        ("NVIDIA-A100-SXM4-40GB", 20480, None),
    ],
)
def test_a_board_is_known_by_name_and_memory(product: str, memory: int | None, key: str | None) -> None:
    board = board_of(product, memory)
    assert (board.key if board else None) == key


@pytest.mark.parametrize(("device_id", "key"), [(0x20B0, "A100-40GB"), (0x20B2, "A100-80GB"), (0x2330, "H100-80GB")])
def test_planning_and_simulation_agree(device_id: int, key: str) -> None:
    board = next(board for board in BOARDS if board.key == key)
    simulated = {(p.name, p.slices, p.size, p.starts, p.max_count) for p in PRODUCTS[device_id]}
    assert simulated == {(s.name, s.slices, s.size, s.starts, s.most) for s in board.shapes}
