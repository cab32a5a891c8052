"""Text as a program printed it, out of what it was copied into: a quotation, a code block, a list, a terminal."""

import re
import textwrap
from typing import Final

_QUOTED: Final = re.compile(r"^(?:> ?)+")
_FENCE: Final = re.compile(r"^(?:`{3,}|~{3,})\w*\s*$")
# `$ kubectl ...`, `user@host:~$ kubectl ...`, `PS C:\> oc ...`; or a prompt after which nothing was typed.
_PROMPT: Final = re.compile(
    r"^[^$#%>❯➜]{0,100}[$#%>❯➜][ \t]+(?:kubectl|oc|k|sudo)[ \t]|^[^$#%>❯➜\s]{0,100}[$#%>❯➜]\s*$"
)


# Colours and moves of the cursor, as kubecolor writes them into a file (ECMA-48, control sequences).
_STEERING: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# What kubectl writes to the terminal beside its answer, and `2>&1` into a file.
_BESIDE: Final = re.compile(r"^(?:Warning: |[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+\.go:\d+\] )")


def unwrapped(text: str) -> str:
    """The text without what surrounds it; a text that nothing surrounds stays as it is."""
    lines = textwrap.dedent(_STEERING.sub("", text.replace("\r\n", "\n"))).split("\n")
    lines = _unquoted(lines)
    first = next((at for at, line in enumerate(lines) if not _surrounds(line)), len(lines))
    end = next((at for at in range(len(lines), first, -1) if not _surrounds(lines[at - 1])), first)
    return textwrap.dedent("\n".join((*lines[first:end], "")))


def _unquoted(lines: list[str]) -> list[str]:
    quoted = all(_QUOTED.match(line) for line in lines if line.strip())
    return [_QUOTED.sub("", line) for line in lines] if quoted else lines


def _surrounds(line: str) -> bool:
    return not line.strip() or _FENCE.match(line) is not None or _BESIDE.match(line) is not None or is_prompt(line)


def is_prompt(line: str) -> bool:
    """Whether a line is a shell's: with a command of kubectl behind the prompt, or with nothing."""
    return _PROMPT.match(line) is not None
