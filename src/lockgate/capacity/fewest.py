"""Whether so many moves are enough: a search that is exact, by whole numbers alone.

An item (a copy, or a pod that had to leave) is put on a node that has room, or on one where a smallest set of pods
leaves for it; those are the next items. Every solution can be reached so: of the pods that leave a node in it, some
smallest set is enough for the item at hand. Items that are alike go to nodes in ascending order, and of nodes that are
alike one is tried.
"""

from collections.abc import Iterator
from itertools import combinations_with_replacement

from lockgate.capacity.puzzle import Kind, Puzzle, Sizes, Table, copies_in


class BoundMetError(Exception):
    """The search has taken as many steps as it may."""


class Fewest(Table):
    """Whether so many moves are enough; `steps` is the solution afterwards."""

    def __init__(self, puzzle: Puzzle, tries: int) -> None:
        super().__init__(puzzle)
        self._copies, self._tries = puzzle.copies, tries
        self._last: dict[tuple[int, int | None], int] = {}  # the node that the last of items that are alike went to
        self._sources: list[int] = []
        self._gain = max(map(self._gain_of, puzzle.kinds[1:]), default=0)
        open_to = (tuple(node in kind.homes for kind in puzzle.kinds) for node in range(len(puzzle.free)))
        self._alike = list(zip(open_to, self.sorts, strict=True))

    def solve(self, moves: int) -> bool:
        return self._place([(0, None)] * self._copies, moves)

    def _place(self, queue: list[tuple[int, int | None]], moves: int) -> bool:
        """Put every item of the queue somewhere, largest first, with so many moves left."""
        if not queue:
            return True
        if not self._may_succeed(queue, moves):
            return False
        (kind, source), rest = queue[0], queue[1:]
        return any(self._try(kind, source, node, leave, rest, moves) for node, leave in self._options(queue[0], moves))

    def _try(
        self, kind: int, source: int | None, node: int, leave: Sizes, rest: list[tuple[int, int | None]], moves: int
    ) -> bool:
        before = self._last.get((kind, source), -1)
        self.evict(node, leave)
        self.put(kind, source, node)
        self._last[kind, source] = node
        self._sources += [node] * len(leave)
        queue = sorted([*rest, *((each, node) for each in leave)], key=lambda item: self._order(item[0]))
        if self._place(queue, moves - len(leave)):
            return True
        del self._sources[len(self._sources) - len(leave) :]
        self._last[kind, source] = before
        self.take_back()
        self.evict(node, leave, -1)
        return False

    def _order(self, kind: int) -> tuple[Sizes, int]:
        return tuple(-size for size in self.kinds[kind].size), kind

    def _options(self, item: tuple[int, int | None], moves: int) -> list[tuple[int, Sizes]]:
        """Where an item may go and who would leave for it, fewest first."""
        kind, source = item
        start = max(self._last.get(item, 0), 0)
        nodes = [n for n in sorted(self.kinds[kind].homes) if n >= start and n != source]
        found = [(node, leave) for node in self._unlike(nodes) for leave in self._room(kind, node, moves)]
        return sorted(found, key=lambda o: (len(o[1]), self.is_foreign(source, o[0]), sum(self.free[o[0]])))

    def _unlike(self, nodes: list[int]) -> Iterator[int]:
        """Of nodes that are alike the first, as long as nothing that was done tells them apart."""
        seen: set[object] = set()
        latest = max(self._last.values(), default=-1)
        for node in nodes:
            look = (self._alike[node], tuple(self.free[node]), tuple(self.here[node]))
            if look in seen and node not in self._sources:
                continue
            if node >= latest and node not in self._sources:
                seen.add(look)
            yield node

    def _room(self, kind: int, node: int, moves: int) -> Iterator[Sizes]:
        """The smallest sets of pods whose leaving lets the item in: the empty one alone where it fits."""
        self._tries -= 1
        if self._tries < 0:
            raise BoundMetError
        lack = self.lack(kind, node)
        if not lack:
            yield ()
            return
        useful = [k for k in range(1, len(self.kinds)) if self.here[node][k] and self._gives(k, lack)]
        for count in range(1, moves + 1):
            for leave in combinations_with_replacement(useful, count):
                self._tries -= 1
                if self._tries < 0:
                    raise BoundMetError
                if self._may_all_leave(node, leave) and self._is_smallest(leave, lack):
                    yield leave

    def _gives(self, kind: int, lack: dict[int, int]) -> bool:
        return any(self.kinds[kind].size[i] > 0 for i in lack)

    def _may_all_leave(self, node: int, leave: Sizes) -> bool:
        if any(leave.count(kind) > self.here[node][kind] for kind in set(leave)):
            return False
        guards = [budget for kind in leave if (budget := self.kinds[kind].budget) is not None]
        return all(guards.count(budget) <= self.budgets[budget] for budget in set(guards))

    def _is_smallest(self, leave: Sizes, lack: dict[int, int]) -> bool:
        """Whether these give enough of all that lacks, and none of them could stay."""
        spare = {i: sum(self.kinds[k].size[i] for k in leave) - short for i, short in lack.items()}
        if any(over < 0 for over in spare.values()):
            return False
        return all(any(self.kinds[kind].size[i] > spare[i] for i in lack) for kind in set(leave))

    def _may_succeed(self, queue: list[tuple[int, int | None]], moves: int) -> bool:
        """A bound: copies that fit now, and what so many moves could gain at most."""
        wanted = sum(kind == 0 for kind, _ in queue)
        fits = sum(copies_in(self.kinds[0].size, self.free[node]) for node in self.kinds[0].homes)
        return wanted <= fits + moves * self._gain

    def _gain_of(self, kind: Kind) -> int:
        """How many more copies one such pod's leaving makes room for, at most."""
        request = self.kinds[0].size
        return max(
            (-(-given // asked) for given, asked in zip(kind.size, request, strict=True) if asked > 0), default=0
        )
