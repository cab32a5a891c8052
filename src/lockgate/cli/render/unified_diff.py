"""A change of one file as a unified diff that `patch -p0` takes."""

import difflib

_NO_NEWLINE = "\\ No newline at end of file\n"


def render_diff(name: str, before: str, after: str) -> str:
    """The diff, "" where nothing changes."""
    lines = difflib.unified_diff(_lines(before), _lines(after), name, name)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines)


def _lines(text: str) -> list[str]:
    """Lines as `diff` counts them: ended by a line feed and nothing else."""
    return [f"{line}\n" for line in text.split("\n")[:-1]] + ([text.rpartition("\n")[2]] if text[-1:] != "\n" else [])
