"""Dates, times and numbers of TOML: how each library spells them, and their values."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import cache

from lockgate.containerd.toml_dialect import Dialect
from lockgate.containerd.values import Plain

_HEX = r"0x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|0o[0-7](?:_?[0-7])*|0b[01](?:_?[01])*"
_DIGITS = r"\d(?:_?\d)*"
_END = re.compile(r"[\s,\]}#]|\Z")


@cache
def _patterns(dialect: Dialect) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    clock = r"(\d\d):(\d\d)" + (r"(?::(\d\d)(?:\.(\d+))?)?" if dialect.toml_1_1 else r":(\d\d)(?:\.(\d+))?")
    split, zulu = ("[Tt ]", "[Zz]") if dialect.lowercase_dates else ("[T ]", "Z")
    zone = rf"(?:({zulu})|([+-])(\d\d):(\d\d))?"
    moment = re.compile(rf"(\d{{4}})-(\d\d)-(\d\d)(?:{split}{clock}{zone})?")
    whole = _DIGITS if dialect.leading_zeros else r"(?:0|[1-9](?:_?\d)*)"
    real = rf"(?:inf|nan|{whole}(?:\.{_DIGITS}(?:[eE][+-]?{_DIGITS})?|[eE][+-]?{_DIGITS}))"
    number = re.compile(rf"(?P<base>{_HEX})|(?P<float>[+-]?{real})|(?P<int>[+-]?{whole})")
    return moment, re.compile(clock), number


def read_scalar(text: str, at: int, dialect: Dialect) -> tuple[Plain, int] | None:
    """The date, time or number at an offset and the offset behind it; None if none stands there. ValueError if bad."""
    moment, clock, number = _patterns(dialect)
    for pattern, convert in ((moment, _to_date), (clock, _to_time), (number, _to_number)):
        match = pattern.match(text, at)
        if match and _END.match(text, match.end()):
            return convert(match, dialect), match.end()
    return None


def _fraction(digits: str | None) -> int:
    return int((digits or "0")[:6].ljust(6, "0"))


def _to_date(match: re.Match[str], dialect: Dialect) -> Plain:
    year, month, day, hour, minute, second, fraction, zulu, sign, oh, om = match.groups()
    if hour is None:
        return date(int(year), int(month), int(day))
    zone = UTC if zulu else None
    if sign:
        hours = int(oh) % 24 if dialect.wide_offsets else int(oh)
        offset = timedelta(hours=hours, minutes=int(om))
        zone = timezone(offset if sign == "+" else -offset)
    return datetime(  # TOML has local moments, which have no zone
        int(year), int(month), int(day), int(hour), int(minute), int(second or 0), _fraction(fraction), zone
    )


def _to_time(match: re.Match[str], dialect: Dialect) -> Plain:
    hour, minute, second, fraction = match.groups()
    return time(int(hour), int(minute), int(second or 0), _fraction(fraction))


def _to_number(match: re.Match[str], dialect: Dialect) -> Plain:
    text = match.group().replace("_", "")
    if match["float"]:
        return float(text)
    if match["int"] and text[0] == "0" and len(text) > 2:
        raise ValueError("invalid base")
    number = int(text, 0) if match["base"] else int(text)
    if not -(2**63) <= number <= dialect.largest:
        raise ValueError(f"integer {text} does not fit in 64 bits")
    return number
