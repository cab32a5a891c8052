"""NVIDIA's lines in a kernel's log: XIDs of GPUs, SXids of NVSwitches, and which GPU is at which PCI address.

    [  104.2] NVRM: GPU at PCI:0000:3b:00: GPU-8f6c...
    [  104.2] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
    [  104.2] NVRM: Xid (PCI:0000:3b:00 GPU-I:07 GPU-CI:00): 31, pid=3000, name=python, Ch 00000008, intr ...
    [  104.2] nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)

These are the formats of nvidia.ko 535.261, 550.163 and 580.178; since 580 pid and name may be left out. Old drivers
write `Xid (0000:03:00)`. The rest differs by code and is kept as it is.
"""

import datetime as dt
import re
from collections.abc import Iterator
from typing import Final

import msgspec

_BUS: Final = r"(?:PCI:)?(?P<bus>[\da-fA-F]{4,8}:[\da-fA-F]{2}:[\da-fA-F]{2})(?:\.\d)?"
_XID: Final = re.compile(
    rf"NVRM: Xid \({_BUS}(?: GPU-I:(?P<gi>\d+))?(?: GPU-CI:(?P<ci>\d+))?\): (?P<code>\d+)"
    r"(?:, pid='?(?P<pid>\d+|<unknown>)'?)?(?:, name=(?P<name>[^,]+))?"
    r",?\s*(?P<text>.*)"
)
_SXID: Final = re.compile(rf"SXid \({_BUS}\): (?P<code>\d+), (?P<text>.*)")
# Lines that go on with the SXid before them.
_DETAIL: Final = re.compile(r"Severity \d+ Engine instance|Data \{")
_GPU: Final = re.compile(rf"NVRM: GPU at {_BUS}: (?P<uuid>GPU-[\da-fA-F-]+)")
# journalctl -o short-iso. What dmesg -T prints is the node's local time, whose zone is not told.
_ISO: Final = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,]\d+)?(Z|[+-]\d\d:?\d\d)")


class XidLine(msgspec.Struct, frozen=True):
    """One XID. `bus` is `0000:3b:00`, `number` its line's; `at` is None where the line tells no time with its zone.

    `instance` is the MIG device's, `7/0` for GPU instance 7 and compute instance 0; "" for a whole GPU.
    """

    code: int
    bus: str
    line: str
    number: int
    pid: str = ""
    process: str = ""
    instance: str = ""
    text: str = ""
    at: dt.datetime | None = None


class SxidLine(msgspec.Struct, frozen=True):
    """One SXid of an NVSwitch; fatal ones end the work on every GPU of its fabric.

    `text` is the line from `SXid` on.
    """

    code: int
    bus: str
    line: str
    number: int
    fatal: bool
    text: str = ""


class KernelLog(msgspec.Struct, frozen=True):
    """What one kernel's log says; `uuids` by `bus`."""

    xids: tuple[XidLine, ...] = ()
    sxids: tuple[SxidLine, ...] = ()
    uuids: dict[str, str] = {}


def parse_kernel_log(text: str) -> KernelLog:
    """Every line of NVIDIA's in a log, oldest first; other lines are passed over."""
    uuids = {bus_of(m["bus"]): m["uuid"] for m in _GPU.finditer(text)}
    return KernelLog(tuple(_xids(text)), tuple(_sxids(text)), uuids)


def bus_of(text: str) -> str:
    """A PCI address in one spelling, `0000:3b:00`, from any that NVIDIA's programs use (`00000000:3B:00.0`)."""
    domain, bus, slot = text.lower().split(".")[0].split(":")
    return f"{domain[-4:]}:{bus}:{slot}"


def _xids(text: str) -> Iterator[XidLine]:
    for number, line in enumerate(text.splitlines(), 1):
        match = _XID.search(line) if "Xid (" in line else None
        if match is not None:
            yield XidLine(
                code=int(match["code"]),
                bus=bus_of(match["bus"]),
                line=line.strip(),
                number=number,
                pid=_known(match["pid"]),
                process=_known(match["name"]),
                instance="/".join(str(int(part)) for part in (match["gi"], match["ci"]) if part),
                text=match["text"],
                at=_moment(line),
            )


def _sxids(text: str) -> Iterator[SxidLine]:
    for number, line in enumerate(text.splitlines(), 1):
        match = _SXID.search(line) if "SXid (" in line else None
        if match is not None and not _DETAIL.match(match["text"]):
            fatal = match["text"].lower().startswith("fatal")
            yield SxidLine(int(match["code"]), bus_of(match["bus"]), line.strip(), number, fatal, match[0].strip())


def _known(text: str | None) -> str:
    return "" if text is None or "<unknown>" in text else text


def _moment(line: str) -> dt.datetime | None:
    """When the line was written; None where that or the zone is not told."""
    found = _ISO.match(line)
    return dt.datetime.fromisoformat(found[1] + found[2].replace("Z", "+00:00")).astimezone(dt.UTC) if found else None
