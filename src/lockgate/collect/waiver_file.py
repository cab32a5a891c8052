"""`lockgate.yaml`: what a team has waived, beside its manifests.

waivers:
  - id: devices/unhealthy
    where: node/gpu-7
    reason: RMA 4711, replaced in January
    until: 2026-12-31
"""

from pathlib import Path
from typing import Any, Final

from lockgate.collect.bounds import MAX_TEXT
from lockgate.collect.decode import text_of
from lockgate.collect.errors import InputError
from lockgate.collect.members import read_file
from lockgate.collect.yaml_text import parse_yaml
from lockgate.model.waiver import Waiver, WaiverError, waiver

NAME: Final = "lockgate.yaml"
_KEYS: Final = ("id", "where", "reason", "until")


def read_waivers(path: Path) -> tuple[Waiver, ...]:
    """Every waiver of a file; raises InputError with what is wrong and where."""
    document = parse_yaml(str(path), text_of(str(path), read_file(path, MAX_TEXT)).encode())
    entries = document.get("waivers", []) if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise InputError(f"{path}: expected a list `waivers:` of {', '.join(_KEYS)}")
    return tuple(_waiver(path, number, entry) for number, entry in enumerate(entries, 1))


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
