"""A diagnosis as JSON for other programs: stable names, stable order, described by `diagnosis.schema.json`."""

import msgspec

from lockgate.model.finding import Diagnosis


def render_json(diagnosis: Diagnosis) -> str:
    """Indented JSON with a newline at its end."""
    return msgspec.json.format(msgspec.json.encode(diagnosis), indent=2).decode() + "\n"
