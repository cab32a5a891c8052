"""How Go reads and prints durations, which containerd's configuration writes as text: `90m` comes back as `1h30m0s`."""

from __future__ import annotations

import re
from decimal import Decimal

_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_WHOLE = re.compile(rf"([+-]?)(0|(?:{_PART.pattern})+)")


def parse_duration(text: str) -> int | None:
    """Nanoseconds of Go's time.ParseDuration; None where Go reports an invalid duration."""
    match = _WHOLE.fullmatch(text)
    if not match:
        return None
    parts = _PART.findall(match.group(2))
    total = sum(int(Decimal(number) * _NANOSECONDS[unit]) for number, unit in parts)
    return -total if match.group(1) == "-" else total


def print_duration(nanoseconds: int) -> str:
    """Go's Duration.String."""
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if rest == 0:
        return "0s"
    if rest < _NANOSECONDS["s"]:
        unit = "ms" if rest >= 1_000_000 else "µs" if rest >= 1_000 else "ns"
        return f"{sign}{_short(rest, _NANOSECONDS[unit])}{unit}"
    minutes, left = divmod(rest, _NANOSECONDS["m"])
    hours, minutes = divmod(minutes, 60)
    head = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{head}{_short(left, _NANOSECONDS['s'])}s"


def _short(number: int, unit: int) -> str:
    return f"{(Decimal(number) / unit).normalize():f}"
