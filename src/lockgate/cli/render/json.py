"""Reports as JSON for other programs: stable names, stable order, each described by a schema in docs/reference."""

from typing import Any

import msgspec

from lockgate.model.finding import Diagnosis


def render_json(report: Diagnosis | dict[str, Any]) -> str:
    """Indented JSON with a newline at its end."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"
