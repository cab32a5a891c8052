"""`lockgate.yaml`: what a team has waived, beside its manifests.

waivers:
  - id: devices/unhealthy
    where: node/gpu-7
    reason: RMA 4711, replaced in January
    until: 2026-12-31
"""

import difflib
from pathlib import Path
from typing import Any, Final

from lockgate.collect.bounds import MAX_TEXT
from lockgate.collect.decode import text_of
from lockgate.collect.errors import InputError
from lockgate.collect.members import read_file
from lockgate.collect.yaml_text import parse_yaml
from lockgate.model.waiver import Waiver, WaiverError, waiver

NAME: Final = "lockgate.yaml"
_LIST: Final = "waivers"
_KEYS: Final = ("id", "where", "reason", "until")


class NoWaiversError(InputError):
    """The file is about something else, or its list is misspelt."""


def read_waivers(path: Path) -> tuple[Waiver, ...]:
    """Every waiver of a file; raises InputError with what is wrong and where."""
    document = parse_yaml(str(path), text_of(str(path), read_file(path, MAX_TEXT)).encode())
    if isinstance(document, dict) and _LIST not in document:
        raise NoWaiversError(f"{path}: waives nothing, since it has no list `{_LIST}:`{_near(document)}")
    entries = document[_LIST] if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise InputError(f"{path}: expected a list `{_LIST}:` of {', '.join(_KEYS)}")
    return tuple(_waiver(path, number, entry) for number, entry in enumerate(entries, 1))


def _near(document: dict[Any, Any]) -> str:
    near = difflib.get_close_matches(_LIST, [key for key in document if isinstance(key, str)], n=1)
    return f'; is "{near[0]}" meant to be it?' if near else f" of {', '.join(_KEYS)}"


def _waiver(path: Path, number: int, entry: Any) -> Waiver:
    place = f"{path}: waiver {number}"
    if not isinstance(entry, dict) or not all(isinstance(v, str) for v in entry.values()):
        raise InputError(f"{place}: expected the texts {', '.join(_KEYS)}")
    unknown = [key for key in entry if key not in _KEYS]
    if unknown:
        raise InputError(f'{place}: "{unknown[0]}" is not known; expected {", ".join(_KEYS)}')
    try:
        id, where, reason, until = (entry.get(key, "") for key in _KEYS)
        return waiver(id, where, reason, until, f"{path.name} {number}")
    except WaiverError as error:
        raise InputError(f"{place}: {error}") from None
