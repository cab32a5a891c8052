"""Profile names come out as NVIDIA's tools write them, for every row of the boards that we know and for odd totals."""

import pytest

from lockgate.mig.products import PRODUCTS
from lockgate.mig.profile_name import ProfileName, parse_profile_name, profile_name

MIB = 1 << 20
TOTALS = {0x20B0: 40960, 0x20F1: 40960, 0x20B2: 81920, 0x20B5: 81920, 0x2330: 81559}


@pytest.mark.parametrize("board", sorted(TOTALS))
def test_every_profile_of_a_known_board_gets_its_name(board: int) -> None:
    for profile in PRODUCTS[board]:
        made = profile_name(profile.slices, profile.slices, profile.memory_mib, TOTALS[board] * MIB, profile.query)
        assert made.text == profile.name


@pytest.mark.parametrize(
    ("total_mib", "eighths", "gigabytes"),
    [(143771, 4, 71), (183359, 1, 23), (189471, 2, 47), (95830, 4, 47), (24576, 2, 6)],
)
def test_halves_are_rounded_up(total_mib: int, eighths: int, gigabytes: int) -> None:
    memory = total_mib * eighths // 8 - 100  # an instance reports a little less than its share
    assert profile_name(1, 1, memory, total_mib * MIB).gigabytes == gigabytes


def test_a_compute_instance_smaller_than_its_gpu_instance_is_named_with_both() -> None:
    assert profile_name(1, 3, 19968, 40960 * MIB).text == "1c.3g.20gb"


@pytest.mark.parametrize("text", ["1g.5gb", "1c.3g.20gb", "1g.10gb+me", "1g.24gb-me", "7g.80gb", "1g.24gb+gfx"])
def test_a_name_survives_parsing(text: str) -> None:
    assert parse_profile_name(text).text == text


def test_a_resource_name_has_dots_for_pluses() -> None:
    assert ProfileName(1, 1, 10, "+me.all").resource_suffix == "1g.10gb.me.all"


@pytest.mark.parametrize("text", ["", "1g", "g.5gb", "1g.5GB", "1g.5gb me", "3c.1g"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a MIG profile"):
        parse_profile_name(text)
