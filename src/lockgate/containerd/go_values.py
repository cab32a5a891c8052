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
_PART = re.compile(r"(\d+\.?\d*|\.\d+)([^\d.]*)")


class DurationError(ValueError):
    """Text that Go's time.ParseDuration refuses; the message is Go's."""


def parse_duration(text: str) -> int:
    """Nanoseconds of Go's time.ParseDuration."""
    sign, rest = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
    if rest == "0":
        return 0
    if not rest:
        raise DurationError(f'time: invalid duration "{text}"')
    total, at = 0, 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if not part:
            raise DurationError(f'time: invalid duration "{text}"')
        total += int(Decimal(part.group(1)) * _unit(part.group(2), text))
        at = part.end()
    return -total if sign == "-" else total


def _unit(name: str, text: str) -> int:
    if not name:
        raise DurationError(f'time: missing unit in duration "{text}"')
    if name not in _NANOSECONDS:
        raise DurationError(f'time: unknown unit "{name}" in duration "{text}"')
    return _NANOSECONDS[name]


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
