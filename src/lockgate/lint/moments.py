"""Moments in the words of common commands: since when a process runs, when files were written. Without a zone, unknown.

systemctl show containerd -p ActiveEnterTimestamp --timestamp=unix     ActiveEnterTimestamp=@1764446400
systemctl show containerd -p ActiveEnterTimestamp                      Sat 2025-11-29 20:00:00 UTC
stat -c '%y %n' FILES, ls -l --full-time FILES                         2025-11-29 20:00:00.123 +0000 /etc/x.toml
"""

import datetime as dt
import re
from typing import Final

_UNIX: Final = re.compile(r"@(\d{9,11})\b")
_WRITTEN: Final = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d:\d\d)(?:[.,]\d+)?\s*(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)"
    r"(?:\s+(?P<path>/.*?))?\s*$"
)


def parse_moment(text: str) -> dt.datetime | None:
    """The first moment of a text; None where there is none, or its zone is not said."""
    for line in text.splitlines():
        if found := _UNIX.search(line):
            return dt.datetime.fromtimestamp(int(found[1]), dt.UTC)
        if (match := _WRITTEN.search(line)) and (moment := _moment(match)):
            return moment
    return None


def parse_written(text: str) -> dict[str, dt.datetime]:
    """The moment of each path of a listing; lines that are something else are left out."""
    found = {}
    for line in text.splitlines():
        match = _WRITTEN.search(line)
        if match and match["path"] and (moment := _moment(match)):
            found[match["path"]] = moment
    return found


def _moment(match: re.Match[str]) -> dt.datetime | None:
    zone = match["zone"] if match["zone"][0] in "+-" else "+00:00"
    try:
        return dt.datetime.fromisoformat(f"{match['day']}T{match['time']}{zone}")
    except ValueError:  # 25 o'clock
        return None
