"""Lines for a terminal of 100 columns: what is longer is wrapped, cut or counted, the same in every view."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from lockgate.kit import counted

T = TypeVar("T")

WIDTH: Final = 100
MOST_EVIDENCE: Final = 24  # of one finding that are shown; a fault of a hundred nodes has hundreds
MOST_QUESTIONS: Final = 24  # that stay open


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
    return counted.few(names, most)


def bounded(items: Sequence[T], most: int, what: str) -> tuple[Sequence[T], str]:
    """The first items, and a word about the others; "" where these are all."""
    more = len(items) - most
    return items[:most], f"and {more} more {what} (-o json shows all)" if more > 0 else ""


def short_name(name: str, width: int) -> str:
    """A name that fits a column, cut in its middle: nodes of one pool differ in their last characters only."""
    if len(name) <= width:
        return name
    tail = width // 2
    return f"{name[: width - 1 - tail]}…{name[-tail:]}"


def cut(text: str, width: int) -> str:
    """A text that fits a column; what is cut off at its end is shown to be."""
    return text if len(text) <= width else f"{text[: width - 1]}…"
