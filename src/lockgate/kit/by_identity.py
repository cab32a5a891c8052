"""Remembers what a pure function says of values that many objects share: the very same ones, not equal ones.

For frozen values that cannot be hashed (they hold maps), of which long lists keep one copy (`collect.sharing`).
"""

from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar

K = TypeVar("K")
L = TypeVar("L")
V = TypeVar("V")
_MOST: Final = 8192  # values that are kept alive by being remembered


def by_identity(function: Callable[[K], V]) -> Callable[[K], V]:
    """The function, asked once for each value; its answers are shared, so nobody may change them."""
    known: dict[int, tuple[K, V]] = {}

    @wraps(function)
    def remembered(value: K) -> V:
        found = known.get(id(value))
        if found is not None:  # what is remembered is alive, so its id is nobody else's
            return found[1]
        if len(known) >= _MOST:
            known.clear()
        answer = function(value)
        known[id(value)] = value, answer
        return answer

    return remembered


def by_two(function: Callable[[K, L], V]) -> Callable[[K, L], V]:
    """The same for a function of two values, given by position: asked once for each two that come together."""
    known: dict[tuple[int, int], tuple[K, L, V]] = {}

    @wraps(function)
    def remembered(one: K, other: L) -> V:
        found = known.get((id(one), id(other)))
        if found is not None:
            return found[2]
        if len(known) >= _MOST:
            known.clear()
        answer = function(one, other)
        known[id(one), id(other)] = one, other, answer
        return answer

    return remembered
