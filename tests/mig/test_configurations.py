"""Stock configurations: those of NVIDIA's default file, for every board that it knows, and what they lose."""

import pytest

from lockgate.mig.configurations import configurations, lost_gb
from lockgate.mig.geometry import BOARDS, Board
from lockgate.mig.placements import find_layout
from lockgate.mig.profile_name import profile_name

# `all-...` names and counts of mig-parted's default file, by our board (reference A9).
DEFAULT_FILE = {
    "A100-40GB": "1g.5gb:7 1g.5gb.me:1 1g.10gb:4 2g.10gb:3 3g.20gb:2 4g.20gb:1 7g.40gb:1",
    "A100-80GB": "1g.10gb:7 1g.10gb.me:1 1g.20gb:4 2g.20gb:3 3g.40gb:2 4g.40gb:1 7g.80gb:1",
    "H100-80GB": "1g.10gb:7 1g.10gb.me:1 1g.20gb:4 2g.20gb:3 3g.40gb:2 4g.40gb:1 7g.80gb:1",
    "A30": "1g.6gb:4 1g.6gb.me:1 2g.12gb:2 2g.12gb.me:1 4g.24gb:1",
    "H100-94GB": "1g.12gb:7 1g.12gb.me:1 1g.24gb:4 2g.24gb:3 3g.47gb:2 4g.47gb:1 7g.94gb:1",
    "H100-96GB": "1g.12gb:7 1g.12gb.me:1 1g.24gb:4 2g.24gb:3 3g.48gb:2 4g.48gb:1 7g.96gb:1",
    "H200-141GB": "1g.18gb:7 1g.18gb.me:1 1g.35gb:4 2g.35gb:3 3g.71gb:2 4g.71gb:1 7g.141gb:1",
    "GH200-144GB": "1g.18gb:7 1g.36gb:4 2g.36gb:3 3g.72gb:2 4g.72gb:1 7g.144gb:1",
    "B200-180GB": "1g.23gb:7 1g.23gb.me:1 1g.45gb:4 2g.45gb:3 3g.90gb:2 4g.90gb:1 7g.180gb:1",
    "GB200-186GB": "1g.23gb:7 1g.47gb:4 2g.47gb:3 3g.93gb:2 4g.93gb:1 7g.186gb:1",
    "GB200-189GB": "3g.95gb:2 4g.95gb:1 7g.189gb:1",
    "B300-269GB": "1g.34gb:7 1g.34gb.me:1 1g.67gb:4 2g.67gb:3 3g.135gb:2 4g.135gb:1 7g.269gb:1",
    "GB300-278GB": "1g.35gb:7 1g.70gb:4 2g.70gb:3 3g.139gb:2 4g.139gb:1 7g.278gb:1",
    "RTX-PRO-6000": "1g.24gb:4 1g.24gb.gfx:4 1g.24gb.me.all:1 1g.24gb-me:4 2g.48gb:2 2g.48gb.gfx:2 2g.48gb.me.all:1 "
    "2g.48gb-me:2 4g.96gb:1 4g.96gb.gfx:1",
}
BALANCED = {
    "A100-40GB": "1g.5gb:2 2g.10gb:1 3g.20gb:1",
    "A100-80GB": "1g.10gb:2 2g.20gb:1 3g.40gb:1",
    "H100-80GB": "1g.10gb:2 2g.20gb:1 3g.40gb:1",
    "A30": "1g.6gb:2 2g.12gb:1",
    "H100-94GB": "1g.12gb:2 2g.24gb:1 3g.47gb:1",
    "H100-96GB": "1g.12gb:2 2g.24gb:1 3g.48gb:1",
    "H200-141GB": "1g.18gb:2 2g.35gb:1 3g.71gb:1",
    "GH200-144GB": "1g.18gb:2 2g.36gb:1 3g.72gb:1",
    "B200-180GB": "1g.23gb:2 2g.45gb:1 3g.90gb:1",
    "GB200-186GB": "1g.23gb:2 2g.47gb:1 3g.93gb:1",
    "B300-269GB": "1g.34gb:2 2g.67gb:1 3g.135gb:1",
    "GB300-278GB": "1g.35gb:2 2g.70gb:1 3g.139gb:1",
    "RTX-PRO-6000": "1g.24gb:2 2g.48gb:1",
}
every_board = pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.key)


def counts(text: str) -> dict[str, int]:
    return {name: int(count) for name, _, count in (part.rpartition(":") for part in text.split())}


@every_board
def test_the_default_files_names_and_counts(board: Board) -> None:
    made = {config: sum(devices.values()) for config, devices in configurations(board).items()}
    wanted = {f"all-{name}": count for name, count in counts(DEFAULT_FILE[board.key]).items()}
    assert {config: made.get(config) for config in wanted} == wanted


@pytest.mark.parametrize("key", BALANCED)
def test_all_balanced(key: str) -> None:
    board = next(board for board in BOARDS if board.key == key)
    assert configurations(board)["all-balanced"] == counts(BALANCED[key])


@every_board
def test_every_configuration_has_places_on_the_board(board: Board) -> None:
    for devices in configurations(board).values():
        assert find_layout(board, [name for name, count in devices.items() for _ in range(count)]) is not None


@every_board
def test_every_name_is_what_nvidias_tools_compute_from_the_memory(board: Board) -> None:
    for shape in board.shapes:
        mib = board.total_mib * shape.size // board.memory_slices
        computed = profile_name(shape.slices, shape.slices, mib, board.total_mib << 20)
        assert shape.name.startswith(computed.text)


@pytest.mark.parametrize(
    ("key", "config", "lost"),
    [
        ("A100-40GB", "all-1g.5gb", 5),
        ("A100-80GB", "all-1g.10gb", 10),
        ("H100-80GB", "all-1g.10gb", 10),
        ("H200-141GB", "all-1g.18gb", 17),
        ("A100-40GB", "all-balanced", 0),
        ("A100-40GB", "all-7g.40gb", 0),
        ("A30", "all-1g.6gb", 0),
    ],
)
def test_what_a_configuration_leaves_to_nobody(key: str, config: str, lost: int) -> None:
    assert lost_gb(next(board for board in BOARDS if board.key == key), config) == lost
