"""The stock MIG configurations of a board, by the names that NVIDIA's MIG manager gives them, a GPU at a time.

`all-disabled`, `all-enabled`, one `all-<profile>` for each profile with as many instances as there may be, and
`all-balanced`. Source: the rules by which the MIG manager generates them from hardware (mig-parted, reference A6); its
default file of 81 names holds the same for the boards that it knows.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

from lockgate.mig.geometry import Board, Shape
from lockgate.mig.placements import find_layout, leftover_gb

DISABLED = "all-disabled"
ENABLED = "all-enabled"
BALANCED = "all-balanced"
# Compute slices of the instances in `all-balanced`, by those of the whole board.
_BALANCED: Mapping[int, tuple[int, ...]] = {7: (1, 1, 2, 3), 4: (1, 1, 2)}
Profiles = Mapping[str, int]


def configurations(board: Board) -> dict[str, Profiles]:
    """Profiles and their counts on each GPU, by the configuration's name; empty for the two that make no instance."""
    uniform = {f"all-{resource_name(shape)}": {shape.name: shape.most} for shape in board.shapes}
    balanced = Counter(_base(board, slices).name for slices in _BALANCED[_whole(board)])
    return {DISABLED: {}, ENABLED: {}, **uniform, BALANCED: dict(balanced)}


def resource_name(shape: Shape) -> str:
    """A profile as resources and configurations spell it: `+` is not allowed there."""
    return shape.name.replace("+", ".")


@cache
def lost_gb(board: Board, config: str) -> int:
    """Gigabytes of each GPU that no profile can use under a configuration, at least."""
    layout = find_layout(board, _names(configurations(board)[config]))
    return leftover_gb(board, layout or ())


def _names(profiles: Profiles) -> Iterable[str]:
    return [name for name, count in profiles.items() for _ in range(count)]


def _whole(board: Board) -> int:
    return max(shape.slices for shape in board.shapes)


def _base(board: Board, slices: int) -> Shape:
    """Of the base profiles with so many slices that which may be there most often."""
    fitting = (shape for shape in board.shapes if shape.slices == slices and not any(m in shape.name for m in "+-"))
    return max(fitting, key=lambda shape: shape.most)
