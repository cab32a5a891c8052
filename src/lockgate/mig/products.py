"""MIG profiles of each board, with the places where an instance of them may lie: a row a board and profile.

Sizes are in memory slices; two instances may coexist when their ranges [start, start + size) do not overlap and the
profile's maximum holds. Facts as NVIDIA's `nvidia-smi mig -lgip` and `-lgipp` print them on these boards.
"""

from typing import Final

import msgspec


class Profile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One GPU instance profile of one board.

    `query` is NVML's enum that asks for the profile (`NVML_GPU_INSTANCE_PROFILE_*`), `id` what the driver answers and
    what create and list calls take. `memory_mib` is what an instance of it reports.
    """

    name: str
    query: int
    id: int
    max_count: int
    slices: int
    multiprocessors: int
    copy_engines: int
    decoders: int
    jpeg: int
    ofa: int
    memory_mib: int
    starts: tuple[int, ...]
    size: int


# id -> (query enum, places, size): the same on every board with seven compute slices.
_PLACES: Final = {
    19: (0, (0, 1, 2, 3, 4, 5, 6), 1),
    20: (7, (0, 1, 2, 3, 4, 5, 6), 1),
    15: (9, (0, 2, 4, 6), 2),
    14: (1, (0, 2, 4), 2),
    9: (2, (0, 4), 4),
    5: (3, (0,), 4),
    0: (4, (0,), 8),
}

_Row = tuple[str, int, int, int, int, int, int, int, int, int]


def _profiles(rows: tuple[_Row, ...]) -> tuple[Profile, ...]:
    return tuple(_profile(row) for row in rows)


def _profile(row: _Row) -> Profile:
    name, id_, max_count, slices, multiprocessors, copy_engines, decoders, jpeg, ofa, memory_mib = row
    query, starts, size = _PLACES[id_]
    return Profile(
        name=name,
        query=query,
        id=id_,
        max_count=max_count,
        slices=slices,
        multiprocessors=multiprocessors,
        copy_engines=copy_engines,
        decoders=decoders,
        jpeg=jpeg,
        ofa=ofa,
        memory_mib=memory_mib,
        starts=starts,
        size=size,
    )


# name, id, max, compute slices, SMs, copy engines, decoders, JPEG, OFA, MiB
_A100_40: Final = _profiles(
    (
        ("1g.5gb", 19, 7, 1, 14, 1, 0, 0, 0, 4864),
        ("1g.5gb+me", 20, 1, 1, 14, 1, 1, 1, 1, 4864),
        ("1g.10gb", 15, 4, 1, 14, 1, 1, 0, 0, 9856),
        ("2g.10gb", 14, 3, 2, 28, 2, 1, 0, 0, 9856),
        ("3g.20gb", 9, 2, 3, 42, 3, 2, 0, 0, 19968),
        ("4g.20gb", 5, 1, 4, 56, 4, 2, 0, 0, 19968),
        ("7g.40gb", 0, 1, 7, 98, 7, 5, 1, 1, 40192),
    )
)
_A100_80: Final = _profiles(
    (
        ("1g.10gb", 19, 7, 1, 14, 1, 0, 0, 0, 9856),
        ("1g.10gb+me", 20, 1, 1, 14, 1, 1, 1, 1, 9856),
        ("1g.20gb", 15, 4, 1, 14, 1, 1, 0, 0, 19968),
        ("2g.20gb", 14, 3, 2, 28, 2, 1, 0, 0, 19968),
        ("3g.40gb", 9, 2, 3, 42, 3, 2, 0, 0, 40192),
        ("4g.40gb", 5, 1, 4, 56, 4, 2, 0, 0, 40192),
        ("7g.80gb", 0, 1, 7, 98, 7, 5, 1, 1, 80384),
    )
)
_H100_80: Final = _profiles(
    (
        ("1g.10gb", 19, 7, 1, 16, 1, 1, 1, 0, 9984),
        ("1g.10gb+me", 20, 1, 1, 16, 1, 1, 1, 1, 9984),
        ("1g.20gb", 15, 4, 1, 26, 1, 1, 1, 0, 20096),
        ("2g.20gb", 14, 3, 2, 32, 2, 2, 2, 0, 20096),
        ("3g.40gb", 9, 2, 3, 60, 3, 3, 3, 0, 40448),
        ("4g.40gb", 5, 1, 4, 64, 4, 4, 4, 0, 40448),
        ("7g.80gb", 0, 1, 7, 132, 8, 7, 7, 1, 81152),
    )
)

# PCI device id -> profiles
PRODUCTS: Final[dict[int, tuple[Profile, ...]]] = {
    0x20B0: _A100_40,  # A100-SXM4-40GB
    0x20F1: _A100_40,  # A100-PCIE-40GB
    0x20B2: _A100_80,  # A100-SXM4-80GB
    0x20B5: _A100_80,  # A100 80GB PCIe
    0x2330: _H100_80,  # H100 80GB HBM3 (SXM5)
}
