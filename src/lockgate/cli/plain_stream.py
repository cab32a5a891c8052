"""Standard output without what would steer a terminal: names, texts and logs of a cluster may hold anything."""

import re
from typing import Any, Final, TextIO

from lockgate.kit.shown import shown

# Our own colours, and the screen cleared before a table is drawn anew: `render.text`, `capacity --watch`.
_OURS: Final = re.compile(r"(\A\x1b\[H\x1b\[2J|\x1b\[[\d;]{1,8}m)")


class PlainStream:
    """A stream that passes on text, and colours to a terminal alone."""

    def __init__(self, inner: TextIO) -> None:
        self._inner, self._coloured = inner, inner.isatty()

    def write(self, text: str) -> int:
        """As the stream's own, with a mark in place of each control character."""
        parts = _OURS.split(text) if self._coloured else [text]  # every second one is ours
        return self._inner.write("".join(part if place % 2 else shown(part) for place, part in enumerate(parts)))

    def writelines(self, lines: Any) -> None:
        """Each in turn."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
