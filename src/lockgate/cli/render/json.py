"""Reports as JSON for other programs: stable names, stable order, each described by a schema in docs/reference."""

from typing import Any

import msgspec

from lockgate.kit.shown import shown
from lockgate.model.finding import Diagnosis


def render_json(report: Diagnosis | dict[str, Any]) -> str:
    """Indented JSON with a newline at its end."""
    try:
        text = msgspec.json.encode(report)
    except UnicodeEncodeError:  # a path that was given, whose bytes are no text
        text = msgspec.json.encode(_as_text(msgspec.to_builtins(report)))
    return msgspec.json.format(text, indent=2).decode() + "\n"


def _as_text(value: Any) -> Any:
    match value:
        case str():
            return shown(value)
        case dict():
            return {key: _as_text(each) for key, each in value.items()}
        case list() | tuple():
            return [_as_text(each) for each in value]
        case _:
            return value
