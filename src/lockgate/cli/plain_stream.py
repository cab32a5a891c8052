"""Standard output without what would steer a terminal: names, texts and logs of a cluster may hold anything.

A reader that went away (`| head`) is no failure: the rest is dropped, and the verb ends with its own exit code, so that
a script under `pipefail` is told the verdict. What would run on for ever (`--watch`) ends instead.
"""

import os
import re
from typing import Any, Final, TextIO

from lockgate.kit.shown import shown

# Our own colours, and the screen cleared before a table is drawn anew: `render.text`, `capacity --watch`.
_OURS: Final = re.compile(r"(\A\x1b\[H\x1b\[2J|\x1b\[[\d;]{1,8}m)")


class PlainStream:
    """A stream that passes on text, and colours to a terminal alone."""

    def __init__(self, inner: TextIO, *, endless: bool = False) -> None:
        self._inner, self._coloured, self._endless = inner, inner.isatty(), endless

    def write(self, text: str) -> int:
        """As the stream's own, with a mark in place of each control character."""
        parts = _OURS.split(text) if self._coloured else [text]  # every second one is ours
        plain = "".join(part if place % 2 else shown(part) for place, part in enumerate(parts))
        try:
            return self._inner.write(plain)
        except BrokenPipeError:
            self._unheard()
            return len(text)

    def flush(self) -> None:
        """As the stream's own."""
        try:
            self._inner.flush()
        except BrokenPipeError:
            self._unheard()

    def _unheard(self) -> None:
        drop_rest(self._inner)
        if self._endless:
            raise BrokenPipeError

    def writelines(self, lines: Any) -> None:
        """Each in turn."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def drop_rest(stream: TextIO) -> None:
    """What is still written to a stream arrives nowhere, nor what it holds back (Python's manual, on SIGPIPE)."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
