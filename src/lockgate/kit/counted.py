"""Counts as a person says them: `1 node has`, `3 nodes have`, `a, b and 3 more`."""

from collections.abc import Iterable


def counted(count: int, one: str, many: str = "") -> str:
    """A count with its noun, and whatever agrees with it: `counted(1, "node")`, `counted(2, "copy", "copies")`."""
    return f"{count} {agreeing(count, one, many)}"


def agreeing(count: int, one: str, many: str = "") -> str:
    """The word alone that goes with a count; the plural ends in s unless `many` says it."""
    return one if count == 1 else many or f"{one}s"


def few(texts: Iterable[str], most: int = 3, between: str = ", ") -> str:
    """The first texts, and how many more there are."""
    every = list(texts)
    more = len(every) - most
    return between.join(every[:most]) + (f" and {more} more" if more > 0 else "")
