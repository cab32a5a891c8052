"""What may have been meant by a name that nobody has: the nearest of those that there are."""

import difflib
from collections.abc import Iterable


def near(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The nearest names, best first, three at most; empty where none comes near."""
    return tuple(difflib.get_close_matches(name, sorted(set(known)), n=3))


def did_you_mean(names: Iterable[str]) -> str:
    """The end of a message about a name that is not there; "" where nothing comes near."""
    return f"; did you mean {text}?" if (text := " or ".join(dict.fromkeys(names))) else ""
