"""Dates, times and numbers of TOML: their spelling and their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone

from lockgate.containerd.values import Plain

DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))?)?")
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d+))?")
_NUMBER = re.compile(
    r"(?P<base>0x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|0o[0-7](?:_?[0-7])*|0b[01](?:_?[01])*)"
    r"|(?P<float>[+-]?(?:inf|nan|(?:0|[1-9](?:_?\d)*)(?:\.\d(?:_?\d)*(?:[eE][+-]?\d(?:_?\d)*)?|[eE][+-]?\d(?:_?\d)*)))"
    r"|(?P<int>[+-]?(?:0|[1-9](?:_?\d)*))"
)


def _fraction(digits: str | None) -> int:
    return int((digits or "0")[:6].ljust(6, "0"))


def _to_date(match: re.Match[str]) -> Plain:
    year, month, day, hour, minute, second, fraction, zulu, sign, oh, om = match.groups()
    if hour is None:
        return date(int(year), int(month), int(day))
    zone = UTC if zulu else None
    if sign:
        offset = timedelta(hours=int(oh), minutes=int(om))
        zone = timezone(offset if sign == "+" else -offset)
    return datetime(  # TOML has local moments, which have no zone
        int(year), int(month), int(day), int(hour), int(minute), int(second), _fraction(fraction), zone
    )


def _to_time(match: re.Match[str]) -> Plain:
    hour, minute, second, fraction = match.groups()
    return time(int(hour), int(minute), int(second), _fraction(fraction))


def _to_number(match: re.Match[str]) -> Plain:
    text = match.group().replace("_", "")
    if match["float"]:
        return float(text)
    number = int(text, 0) if match["base"] else int(text)
    if not -(2**63) <= number < 2**64:
        raise ValueError(f"integer {text} out of range")
    return number


SCALARS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Plain]], ...] = (
    (DATE, _to_date),
    (_TIME, _to_time),
    (_NUMBER, _to_number),
)
