"""A lint report as JSON for other programs: stable names, stable order."""

import msgspec

from lockgate.lint.report import LintReport


def render_json(report: LintReport) -> str:
    """Indented JSON with a newline at its end."""
    data = {**msgspec.to_builtins(report), "exitCode": report.exit_code}
    return msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"
