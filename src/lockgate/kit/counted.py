"""Counts as a person says them: `1 node has`, `3 nodes have`."""


def counted(count: int, one: str, many: str = "") -> str:
    """A count with its noun, and whatever agrees with it: `counted(1, "node")`, `counted(2, "copy", "copies")`."""
    return f"{count} {agreeing(count, one, many)}"


def agreeing(count: int, one: str, many: str = "") -> str:
    """The word alone that goes with a count; the plural ends in s unless `many` says it."""
    return one if count == 1 else many or f"{one}s"
