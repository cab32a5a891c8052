"""Text of foreign origin as a terminal may show it: without what would steer the terminal, and not endless."""

import re
from typing import Final

# C0 and C1 without tab and line feed, and halves of surrogate pairs: bytes of a file's name that are no UTF-8.
_UNSHOWN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_MOST: Final = 1000  # characters of a line


def shown(text: str) -> str:
    """The text with a mark (U+FFFD) in place of each character that is none to be read."""
    return _UNSHOWN.sub("\ufffd", text)


def shown_line(text: str) -> str:
    """The same on one line; of a text that is longer than any message the middle is left out."""
    line = shown(" ".join(text.split()))
    return line if len(line) <= _MOST else f"{line[: _MOST * 2 // 3]} ... {line[-_MOST // 3 :]}"
