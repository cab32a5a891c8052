"""The fewest pods to move so that some copies of a request fit: plain search over whole numbers, exact within a bound.

Depth-first by increasing number of moves. An item (a copy, or a pod that had to leave) is put on a node that has room,
or on one where a smallest set of pods leaves for it; those are the next items. Every solution can be reached so: of
the pods that leave a node in it, some smallest set is enough for the item at hand. Items that are alike go to nodes in
ascending order, and of nodes that are alike one is tried. A first fit comes before, so that the answer is never worse.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement

import msgspec

MOST_MOVES = 8
MOST_TRIES = 20_000  # of an item on a node: about a third of a second
Sizes = tuple[int, ...]


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """Pods that are alike here: what they ask of each resource, the nodes open to them, the budget that guards them."""

    size: Sizes
    homes: frozenset[int]
    budget: int | None = None


class Puzzle(msgspec.Struct, frozen=True, kw_only=True):
    """`free` by node and resource, `here` by node: pods of each kind that may leave. `kinds[0]` is the request.

    `sorts` says of nodes which are of one sort: places among them are tried first.
    """

    free: tuple[Sizes, ...]
    here: tuple[Sizes, ...]
    kinds: tuple[Kind, ...]
    copies: int
    budgets: Sizes = ()
    sorts: Sizes = ()


class Step(msgspec.Struct, frozen=True):
    """One pod of a kind goes from one node to another; a copy of the request comes from nowhere (None)."""

    kind: int
    source: int | None
    target: int


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
    search = _Search(puzzle, most_tries)
    for moves in range(least, min(most, MOST_MOVES) + 1):
        try:
            if search.solve(moves):
                return Packing(steps=tuple(search.steps), least=moves, proven=True)
        except _BoundMetError:
            return Packing(steps=fallback, least=moves, proven=False)
    proven = most <= MOST_MOVES
    return Packing(steps=fallback, least=(known or 0) if proven else MOST_MOVES + 1, proven=proven)


def first_fit(puzzle: Puzzle) -> tuple[Step, ...] | None:
    """Each copy on the first node that can take it, and each pod that leaves for it on the first node with room."""
    table = _Table(puzzle)
    for _ in range(puzzle.copies):
        if not any(_first_fit_on(table, node) for node in sorted(puzzle.kinds[0].homes)):
            return None
    return tuple(table.steps)


class _Table:
    """A puzzle being solved: steps are taken and taken back."""

    def __init__(self, puzzle: Puzzle) -> None:
        self.kinds = puzzle.kinds
        self.free = [list(sizes) for sizes in puzzle.free]
        self.here = [list(counts) for counts in puzzle.here]
        self.budgets = list(puzzle.budgets)
        self._sorts = puzzle.sorts or (0,) * len(puzzle.free)
        self.steps: list[Step] = []

    def lack(self, kind: int, node: int) -> dict[int, int]:
        """What is short for one more of a kind on a node, by resource; resources that it does not ask do not count."""
        free, size = self.free[node], self.kinds[kind].size
        return {i: asked - free[i] for i, asked in enumerate(size) if asked > 0 and asked > free[i]}

    def put(self, kind: int, source: int | None, target: int) -> None:
        self._add(target, kind, -1)
        self.steps.append(Step(kind, source, target))

    def take_back(self) -> Step:
        step = self.steps.pop()
        self._add(step.target, step.kind, 1)
        return step

    def evict(self, node: int, kinds: Iterable[int], sign: int = 1) -> None:
        """Pods leave a node; with sign -1 they are there again."""
        for kind in kinds:
            self._add(node, kind, sign)
            self.here[node][kind] -= sign
            if (budget := self.kinds[kind].budget) is not None:
                self.budgets[budget] -= sign

    def is_foreign(self, source: int | None, node: int) -> bool:
        """Whether a pod would leave the nodes of its sort."""
        return source is not None and self._sorts[source] != self._sorts[node]

    def may_leave(self, node: int, kind: int) -> int:
        """How many pods of a kind may still leave a node."""
        budget = self.kinds[kind].budget
        there = self.here[node][kind]
        return there if budget is None else min(there, self.budgets[budget])

    def _add(self, node: int, kind: int, sign: int) -> None:
        free = self.free[node]
        for i, size in enumerate(self.kinds[kind].size):
            free[i] += sign * size


class _BoundMetError(Exception):
    """The search has taken as many steps as it may."""


class _Search(_Table):
    """Whether so many moves are enough; `steps` is the solution afterwards."""

    def __init__(self, puzzle: Puzzle, tries: int) -> None:
        super().__init__(puzzle)
        self._copies, self._tries = puzzle.copies, tries
        self._last: dict[tuple[int, int | None], int] = {}  # the node that the last of items that are alike went to
        self._sources: list[int] = []
        self._gain = max(map(self._gain_of, puzzle.kinds[1:]), default=0)
        self._alike = [tuple(node in kind.homes for kind in puzzle.kinds) for node in range(len(puzzle.free))]

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
            raise _BoundMetError
        lack = self.lack(kind, node)
        if not lack:
            yield ()
            return
        useful = [k for k in range(1, len(self.kinds)) if self.here[node][k] and self._gives(k, lack)]
        for count in range(1, moves + 1):
            for leave in combinations_with_replacement(useful, count):
                self._tries -= 1
                if self._tries < 0:
                    raise _BoundMetError
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
        fits = sum(_copies(self.kinds[0].size, self.free[node]) for node in self.kinds[0].homes)
        return wanted <= fits + moves * self._gain

    def _gain_of(self, kind: Kind) -> int:
        """How many more copies one such pod's leaving makes room for, at most."""
        request = self.kinds[0].size
        return max(
            (-(-given // asked) for given, asked in zip(kind.size, request, strict=True) if asked > 0), default=0
        )


def _first_fit_on(table: _Table, node: int) -> bool:
    """One copy on this node, the pods that leave for it on the first nodes with room; False leaves all as it was."""
    leave: list[int] = []
    while lack := table.lack(0, node):
        kinds = [k for k in range(1, len(table.kinds)) if table.may_leave(node, k) and _helps(table, k, lack)]
        if not kinds:
            table.evict(node, leave, -1)
            return False
        leave.append(max(kinds, key=lambda kind: _helps(table, kind, lack)))
        table.evict(node, leave[-1:])
    table.put(0, None, node)
    for placed, kind in enumerate(leave):
        homes = (n for n in table.kinds[kind].homes if n != node and not table.lack(kind, n))
        if (target := min(homes, key=lambda n: (table.is_foreign(node, n), n), default=None)) is None:
            for _ in range(placed + 1):
                table.take_back()
            table.evict(node, leave, -1)
            return False
        table.put(kind, node, target)
    return True


def _helps(table: _Table, kind: int, lack: dict[int, int]) -> int:
    return sum(min(table.kinds[kind].size[i], short) for i, short in lack.items())


def _least_moves(puzzle: Puzzle) -> int | None:
    """A number of moves that any solution needs; None when not even moving everything would be enough."""
    request = puzzle.kinds[0]
    fits = sum(_copies(request.size, puzzle.free[node]) for node in request.homes)
    emptied = sum(_copies(request.size, _emptied(puzzle, node)) for node in request.homes)
    places = frozenset[int]().union(*(kind.homes for kind in puzzle.kinds))
    whole = tuple(sum(max(puzzle.free[node][i], 0) for node in places) for i in range(len(request.size)))
    if min(emptied, _copies(request.size, whole)) < puzzle.copies:
        return None
    return 0 if fits >= puzzle.copies else 1


def _emptied(puzzle: Puzzle, node: int) -> Sizes:
    """What would be free on a node if all that may leave it left."""
    given = zip(puzzle.kinds, puzzle.here[node], strict=True)
    sizes = [tuple(size * count for size in kind.size) for kind, count in given]
    return tuple(map(sum, zip(puzzle.free[node], *sizes, strict=True)))


def _copies(size: Sizes, free: Iterable[int]) -> int:
    return min((max(has, 0) // asked for has, asked in zip(free, size, strict=True) if asked > 0), default=0)
