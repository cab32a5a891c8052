"""The fewest pods to move so that some copies of a request fit: plain search, exact within a bound.

One move more is tried after the other, as long as a first fit has more: the answer is never worse than that.
"""

import msgspec

from lockgate.capacity.fewest import BoundMetError, Fewest
from lockgate.capacity.first_fit import first_fit
from lockgate.capacity.puzzle import Puzzle, Sizes, Step, copies_in

MOST_MOVES = 8
MOST_TRIES = 20_000  # of an item on a node: about a third of a second


class Packing(msgspec.Struct, frozen=True, kw_only=True):
    """`steps` is None when nothing was found. No solution has fewer than `least` moves; `proven`: this is the best,
    or there is none.
    """

    steps: tuple[Step, ...] | None
    least: int
    proven: bool

    @property
    def moves(self) -> tuple[Step, ...]:
        """The pods that move."""
        return tuple(step for step in self.steps or () if step.source is not None)


def pack(puzzle: Puzzle, most_tries: int = MOST_TRIES) -> Packing:
    """Solve a puzzle; past the bound the first fit is the answer, with what was proven until then."""
    least = _least_moves(puzzle)
    if least is None:
        return Packing(steps=None, least=0, proven=True)
    fallback = first_fit(puzzle)
    known = None if fallback is None else sum(step.source is not None for step in fallback)
    most = sum(map(sum, puzzle.here)) if known is None else known - 1
    search = Fewest(puzzle, most_tries)
    for moves in range(least, min(most, MOST_MOVES) + 1):
        try:
            if search.solve(moves):
                return Packing(steps=tuple(search.steps), least=moves, proven=True)
        except BoundMetError:
            return Packing(steps=fallback, least=moves, proven=False)
    proven = most <= MOST_MOVES
    return Packing(steps=fallback, least=(known or 0) if proven else MOST_MOVES + 1, proven=proven)


def _least_moves(puzzle: Puzzle) -> int | None:
    """A number of moves that any solution needs; None when not even moving everything would be enough."""
    request = puzzle.kinds[0]
    fits = sum(copies_in(request.size, puzzle.free[node]) for node in request.homes)
    emptied = sum(copies_in(request.size, _emptied(puzzle, node)) for node in request.homes)
    places = frozenset[int]().union(*(kind.homes for kind in puzzle.kinds))
    whole = tuple(sum(max(puzzle.free[node][i], 0) for node in places) for i in range(len(request.size)))
    if min(emptied, copies_in(request.size, whole)) < puzzle.copies:
        return None
    return 0 if fits >= puzzle.copies else 1


def _emptied(puzzle: Puzzle, node: int) -> Sizes:
    """What would be free on a node if all that may leave it left."""
    given = zip(puzzle.kinds, puzzle.here[node], strict=True)
    sizes = [tuple(size * count for size in kind.size) for kind, count in given]
    return tuple(map(sum, zip(puzzle.free[node], *sizes, strict=True)))
