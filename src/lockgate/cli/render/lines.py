"""Lines for a terminal of 100 columns: what is longer is wrapped, cut or counted, the same in every view."""

import textwrap
from collections.abc import Iterable
from typing import Final

WIDTH: Final = 100


def wrap(text: str, indent: int = 2) -> list[str]:
    """A text on lines of at most WIDTH columns, further lines indented by two more; blanks are one blank."""
    return textwrap.wrap(
        " ".join(text.split()),
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 2),
        break_on_hyphens=False,
    )


def few(names: Iterable[str], most: int = 12) -> str:
    """The first names, and how many more there are."""
    every = list(names)
    more = len(every) - most
    return ", ".join(every[:most]) + (f" and {more} more" if more > 0 else "")


def short_name(name: str, width: int) -> str:
    """A name that fits a column, cut in its middle: nodes of one pool differ in their last characters only."""
    if len(name) <= width:
        return name
    tail = width // 2
    return f"{name[: width - 1 - tail]}…{name[-tail:]}"


def cut(text: str, width: int) -> str:
    """A text that fits a column; what is cut off at its end is shown to be."""
    return text if len(text) <= width else f"{text[: width - 1]}…"
