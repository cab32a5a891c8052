"""What a board is: the facts of each simulated GPU product, a row a board.

Values are what `nvidia-smi -q` prints on the real boards under an R580 driver. Memory in bytes, power in milliwatts,
clocks in MHz, temperatures in degrees Celsius.
"""

from typing import Final

import msgspec

MIB: Final = 1 << 20
GIB: Final = 1 << 30


class Clocks(msgspec.Struct, frozen=True, gc=False):
    """Graphics, SM, memory and video clock in MHz."""

    graphics: int
    sm: int
    memory: int
    video: int


class Board(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The facts of one product that never change while it runs."""

    key: str
    name: str
    device_id: int
    subsystem_id: int
    brand: int  # NVML_BRAND_*
    architecture: int  # NVML_DEVICE_ARCH_*
    compute_capability: tuple[int, int]
    cores: int
    memory: int
    memory_reserved: int
    memory_bus_width: int
    bar1: int
    power_min: int
    power_max: int
    power_idle: int
    clocks_max: Clocks
    clocks_idle: Clocks
    clocks_default: Clocks
    pcie_generation: int
    pcie_width: int
    temperature_shutdown: int
    temperature_slowdown: int
    temperature_max: int
    temperature_memory_max: int  # 0: the board has no such sensor
    nvlinks: int
    nvlink_version: int
    vbios: str
    part_number: str
    inforom: str
    row_remapping: bool  # otherwise the board retires pages
    fabric: bool  # registers with an NVLink fabric (Hopper and newer)
    resetless_mig: bool
    context_memory: int  # what one CUDA context takes


T4: Final = Board(
    key="T4",
    name="Tesla T4",
    device_id=0x1EB8,
    subsystem_id=0x12A210DE,
    brand=2,
    architecture=6,
    compute_capability=(7, 5),
    cores=2560,
    memory=15360 * MIB,
    memory_reserved=443 * MIB,
    memory_bus_width=256,
    bar1=256 * MIB,
    power_min=60_000,
    power_max=70_000,
    power_idle=9_500,
    clocks_max=Clocks(1590, 1590, 5001, 1470),
    clocks_idle=Clocks(300, 300, 405, 540),
    clocks_default=Clocks(585, 585, 5001, 0),
    pcie_generation=3,
    pcie_width=16,
    temperature_shutdown=96,
    temperature_slowdown=93,
    temperature_max=85,
    temperature_memory_max=0,
    nvlinks=0,
    nvlink_version=0,
    vbios="90.04.96.00.A0",
    part_number="900-2G183-0000-001",
    inforom="G183.0200.00.02",
    row_remapping=False,
    fabric=False,
    resetless_mig=False,
    context_memory=104 * MIB,
)

A100_SXM4_40GB: Final = Board(
    key="A100-SXM4-40GB",
    name="NVIDIA A100-SXM4-40GB",
    device_id=0x20B0,
    subsystem_id=0x144E10DE,
    brand=14,
    architecture=7,
    compute_capability=(8, 0),
    cores=6912,
    memory=40960 * MIB,
    memory_reserved=571 * MIB,
    memory_bus_width=5120,
    bar1=64 * GIB,
    power_min=100_000,
    power_max=400_000,
    power_idle=52_000,
    clocks_max=Clocks(1410, 1410, 1215, 1290),
    clocks_idle=Clocks(210, 210, 1215, 585),
    clocks_default=Clocks(1095, 1095, 1215, 0),
    pcie_generation=4,
    pcie_width=16,
    temperature_shutdown=92,
    temperature_slowdown=89,
    temperature_max=85,
    temperature_memory_max=95,
    nvlinks=12,
    nvlink_version=3,
    vbios="92.00.45.00.03",
    part_number="692-2G506-0200-002",
    inforom="G506.0200.00.04",
    row_remapping=True,
    fabric=False,
    resetless_mig=False,
    context_memory=416 * MIB,
)

A100_SXM4_80GB: Final = msgspec.structs.replace(
    A100_SXM4_40GB,
    key="A100-SXM4-80GB",
    name="NVIDIA A100-SXM4-80GB",
    device_id=0x20B2,
    subsystem_id=0x146310DE,
    memory=81920 * MIB,
    memory_reserved=672 * MIB,
    bar1=128 * GIB,
    power_idle=61_000,
    clocks_max=Clocks(1410, 1410, 1593, 1290),
    clocks_idle=Clocks(210, 210, 1593, 585),
    clocks_default=Clocks(1275, 1275, 1593, 0),
    vbios="92.00.81.00.01",
    part_number="692-2G506-0210-002",
    inforom="G506.0210.00.04",
)

H100_SXM5_80GB: Final = Board(
    key="H100-SXM5-80GB",
    name="NVIDIA H100 80GB HBM3",
    device_id=0x2330,
    subsystem_id=0x16C110DE,
    brand=14,
    architecture=9,
    compute_capability=(9, 0),
    cores=16896,
    memory=81559 * MIB,
    memory_reserved=551 * MIB,
    memory_bus_width=5120,
    bar1=128 * GIB,
    power_min=200_000,
    power_max=700_000,
    power_idle=69_000,
    clocks_max=Clocks(1980, 1980, 2619, 1545),
    clocks_idle=Clocks(345, 345, 2619, 765),
    clocks_default=Clocks(1980, 1980, 2619, 0),
    pcie_generation=5,
    pcie_width=16,
    temperature_shutdown=92,
    temperature_slowdown=89,
    temperature_max=87,
    temperature_memory_max=95,
    nvlinks=18,
    nvlink_version=4,
    vbios="96.00.74.00.01",
    part_number="692-2G520-0200-000",
    inforom="G520.0200.00.05",
    row_remapping=True,
    fabric=True,
    resetless_mig=True,
    context_memory=520 * MIB,
)

BOARDS: Final = {board.key: board for board in (T4, A100_SXM4_40GB, A100_SXM4_80GB, H100_SXM5_80GB)}

_ALIASES: Final = {"A100-40GB": "A100-SXM4-40GB", "A100-80GB": "A100-SXM4-80GB", "H100-80GB": "H100-SXM5-80GB"}


def parse_boards(text: str) -> tuple[Board, ...]:
    """`2xA100-40GB,T4` as the boards it names, in order. ValueError says which names exist."""
    boards: list[Board] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        count, times, name = part.partition("x")
        if not (times and count.isdigit()):
            count, name = "1", part
        boards.extend([_board(name)] * int(count))
    return tuple(boards)


def _board(name: str) -> Board:
    board = BOARDS.get(_ALIASES.get(name, name))
    if board is None:
        raise ValueError(f"no board is called {name!r}; there are {', '.join([*BOARDS, *_ALIASES])}")
    return board
