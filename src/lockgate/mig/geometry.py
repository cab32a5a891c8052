"""Which MIG profiles each board has and where an instance of them may lie: a row a board, for planning.

Sizes and starts are in memory slices. A profile's place depends on its id only: ids 19, 20, 15, 14, 9, 5, 0 on boards
with seven compute slices, 14, 21, 5, 6, 0 on those with four. Source: `nvidia-smi mig -lgip` and `-lgipp` of the boards
where they were published; `products.py` holds what NVML answers for the boards that are simulated.
"""

from functools import lru_cache
from typing import Final

import msgspec


class Shape(msgspec.Struct, frozen=True, gc=False):
    """One profile as planning needs it: `slices` of compute, `size` of memory, where it may start, how many at most."""

    name: str
    slices: int
    size: int
    starts: tuple[int, ...]
    most: int

    @property
    def classic(self) -> bool:
        """Whether it is one of the base profiles: no `+me` and the like, no 1g with twice its share of memory."""
        return not any(mark in self.name for mark in "+-") and 4 * self.slices >= 3 * self.size


class Board(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A GPU that can be partitioned. `words` are looked for in its product name, `total_mib` tells variants apart."""

    key: str
    words: tuple[str, ...]
    total_mib: int
    memory_slices: int
    shapes: tuple[Shape, ...]

    def shape(self, name: str) -> Shape | None:
        """The profile of that name, written with `+` or, as resource names do, with a dot."""
        return next((s for s in self.shapes if name in (s.name, s.name.replace("+", "."))), None)


def _seven(one: str, double: str, two: str, three: str, four: str, seven: str) -> tuple[Shape, ...]:
    every, even = (0, 1, 2, 3, 4, 5, 6), (0, 2, 4, 6)
    return (
        Shape(one, 1, 1, every, 7),
        Shape(f"{one}+me", 1, 1, every, 1),
        Shape(double, 1, 2, even, 4),
        Shape(two, 2, 2, (0, 2, 4), 3),
        Shape(three, 3, 4, (0, 4), 2),
        Shape(four, 4, 4, (0,), 1),
        Shape(seven, 7, 8, (0,), 1),
    )


_QUARTERS: Final = (0, 1, 2, 3)
_HALVES: Final = (0, 2)
_A30: Final = (
    Shape("1g.6gb", 1, 1, _QUARTERS, 4),
    Shape("1g.6gb+me", 1, 1, _QUARTERS, 1),
    Shape("2g.12gb", 2, 2, _HALVES, 2),
    Shape("2g.12gb+me", 2, 2, _HALVES, 1),
    Shape("4g.24gb", 4, 4, (0,), 1),
)
_RTX_PRO_6000: Final = (
    Shape("1g.24gb", 1, 1, _QUARTERS, 4),
    Shape("1g.24gb+me", 1, 1, _QUARTERS, 1),
    Shape("1g.24gb+gfx", 1, 1, _QUARTERS, 4),
    Shape("1g.24gb+me.all", 1, 1, _QUARTERS, 1),
    Shape("1g.24gb-me", 1, 1, _QUARTERS, 4),
    Shape("2g.48gb", 2, 2, _HALVES, 2),
    Shape("2g.48gb+gfx", 2, 2, _HALVES, 2),
    Shape("2g.48gb+me.all", 2, 2, _HALVES, 1),
    Shape("2g.48gb-me", 2, 2, _HALVES, 2),
    Shape("4g.96gb", 4, 4, (0,), 1),
    Shape("4g.96gb+gfx", 4, 4, (0,), 1),
)


# key, words of the product name, total MiB as NVML reports it, profiles of 1g, 1g double, 2g, 3g, 4g, 7g
_SEVEN: Final = (
    ("A100-40GB", "A100", 40960, "1g.5gb 1g.10gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb"),
    ("A100-80GB", "A100", 81920, "1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"),
    ("H100-80GB", "H100 H800", 81559, "1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"),
    ("H100-94GB", "H100 H800", 95830, "1g.12gb 1g.24gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb"),
    ("H100-96GB", "H100 GH200 H20", 97871, "1g.12gb 1g.24gb 2g.24gb 3g.48gb 4g.48gb 7g.96gb"),
    ("GH200-144GB", "GH200", 147456, "1g.18gb 1g.36gb 2g.36gb 3g.72gb 4g.72gb 7g.144gb"),
    ("H200-141GB", "H200", 143771, "1g.18gb 1g.35gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb"),
    ("B200-180GB", "B200", 183359, "1g.23gb 1g.45gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb"),
    ("GB200-186GB", "GB200", 189471, "1g.23gb 1g.47gb 2g.47gb 3g.93gb 4g.93gb 7g.186gb"),
    # Their memory is that which the names of NVIDIA's default configurations speak of; it was not measured.
    ("GB200-189GB", "GB200", 193536, "1g.24gb 1g.47gb 2g.47gb 3g.95gb 4g.95gb 7g.189gb"),
    ("B300-269GB", "B300", 275456, "1g.34gb 1g.67gb 2g.67gb 3g.135gb 4g.135gb 7g.269gb"),
    ("GB300-278GB", "GB300", 284672, "1g.35gb 1g.70gb 2g.70gb 3g.139gb 4g.139gb 7g.278gb"),
)
BOARDS: Final = (
    Board(key="A30", words=("A30",), total_mib=24576, memory_slices=4, shapes=_A30),
    *(
        Board(key=key, words=tuple(words.split()), total_mib=mib, memory_slices=8, shapes=_seven(*names.split()))
        for key, words, mib, names in _SEVEN
    ),
    Board(key="RTX-PRO-6000", words=("RTX-PRO-6000",), total_mib=97887, memory_slices=4, shapes=_RTX_PRO_6000),
)


@lru_cache(maxsize=1024)  # asked for every node of a cluster, about the same few products
def board_of(product: str, total_mib: int | None) -> Board | None:
    """The board with that product name, spaces or hyphens alike; memory decides among variants.

    None for a board that cannot be partitioned or is not known, and for one whose variant the memory does not tell.
    """
    words = set(product.upper().replace(" ", "-").split("-"))
    named = [board for board in BOARDS if any(_named(word, product, words) for word in board.words)]
    if len(named) == 1 and total_mib is None:
        return named[0]
    near = [board for board in named if total_mib is not None and abs(board.total_mib - total_mib) * 50 <= total_mib]
    return min(near, key=lambda board: abs(board.total_mib - (total_mib or 0)), default=None)


def _named(word: str, product: str, words: set[str]) -> bool:
    return word in words if "-" not in word else word in product.upper().replace(" ", "-")
