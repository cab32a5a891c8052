"""A drop-in of config version 3 or 4 written at version 2, beside a top-level file of version 2: only names differ."""

from lockgate.containerd.migrate_cri import CRI, CRI_IMAGES, CRI_RUNTIME
from lockgate.lint.statements import Kind, Statement, with_value

_V4_ONLY = ("io.containerd.server.v1.", "io.containerd.metrics.v1.")


def at_version_2(text: str, row: tuple[Statement, ...]) -> str | None:
    """The text with `version = 2` and version 2's name of the CRI section; None where more than names would differ."""
    version = next((s for s in row if s.kind is Kind.PAIR and s.path == ("version",)), None)
    plugins = {s.path[1] for s in row if s.path[:1] == ("plugins",) and len(s.path) > 1}
    if version is None or CRI_IMAGES in plugins or any(name.startswith(_V4_ONLY) for name in plugins):
        return None
    for statement in sorted(row, key=lambda s: s.start, reverse=True):
        if statement is version:
            text = with_value(text, version, 2)
        elif statement.path[:2] == ("plugins", CRI_RUNTIME):
            text = _renamed(text, statement)
    return text


def _renamed(text: str, statement: Statement) -> str:
    """The statement's own text with the other name; a key below a header does not say the name and stays."""
    end = statement.value_start or statement.end
    head = text[statement.start : end].replace(CRI_RUNTIME, CRI, 1)
    return text[: statement.start] + head + text[end:]
