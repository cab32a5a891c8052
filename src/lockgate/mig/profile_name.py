"""The name of a MIG profile, computed as NVIDIA's tools do from what the driver reports.

Because the name comes from reported memory, the same board can show other names under another driver; compare parsed
parts on one GPU, never names across GPUs. Source: go-nvlib, checked on the boards of the MIG manager's tables.
"""

import re
from typing import Final

import msgspec

_MIB: Final = 1 << 20
_GIB: Final = 1 << 30

# NVML_GPU_INSTANCE_PROFILE_* -> what is appended to the name
_SUFFIXES: Final = {
    7: "+me",
    8: "+me",
    10: "+gfx",
    11: "+gfx",
    12: "+gfx",
    13: "-me",
    14: "-me",
    15: "+me.all",
    16: "+me.all",
    17: "+gfx",
}
_NAME: Final = re.compile(r"(?:(\d+)c\.)?(\d+)g\.(\d+)gb([+-].+)?")


class ProfileName(msgspec.Struct, frozen=True, gc=False):
    """The parts of a profile's name: compute slices, GPU slices, gigabytes, suffix with its sign."""

    compute_slices: int
    gpu_slices: int
    gigabytes: int
    suffix: str = ""

    @property
    def text(self) -> str:
        """As nvidia-smi writes it, for example `1c.3g.20gb`."""
        compute = "" if self.compute_slices == self.gpu_slices else f"{self.compute_slices}c."
        return f"{compute}{self.gpu_slices}g.{self.gigabytes}gb{self.suffix}"

    @property
    def resource_suffix(self) -> str:
        """The name as resource names and labels spell it: `+` is not allowed there."""
        return self.text.replace("+", ".")


def profile_name(
    compute_slices: int, gpu_slices: int, memory_mib: int, total_bytes: int, query: int | None = None
) -> ProfileName:
    """The name of an instance with `memory_mib` on a GPU that reports `total_bytes` of memory.

    `query` is the `NVML_GPU_INSTANCE_PROFILE_*` number that led to the profile; None: no suffix is known. Rounding is
    half up (70.5 is 71 on an H200), which Python's round() is not.
    """
    eighths = -(-8 * memory_mib * _MIB // total_bytes)
    whole = -(-total_bytes // _GIB)
    gigabytes = (2 * eighths * whole + 8) // 16
    return ProfileName(compute_slices, gpu_slices, gigabytes, _SUFFIXES.get(-1 if query is None else query, ""))


def parse_profile_name(text: str) -> ProfileName:
    """Read `1g.5gb`, `1c.3g.20gb`, `1g.10gb+me`; raises ValueError for anything else."""
    match = _NAME.fullmatch(text)
    if match is None:
        raise ValueError(f'"{text}" is not a MIG profile (expected for example 1g.5gb, 1c.3g.20gb, 1g.10gb+me)')
    compute, gpu, gigabytes, suffix = match.groups()
    return ProfileName(int(compute or gpu), int(gpu), int(gigabytes), suffix or "")
