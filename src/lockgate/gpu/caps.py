"""Which capability device node opens which MIG instance: `/proc/driver/nvidia-caps/mig-minors`."""

from pathlib import Path
from typing import Final

PATH: Final = Path("/proc/driver/nvidia-caps/mig-minors")


def read_mig_minors(path: Path = PATH) -> dict[str, int]:
    """Capability (`gpu0/gi1/access`, `gpu0/gi1/ci0/access`, `config`) -> minor; empty where the driver has none."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.split() for line in lines)
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}
