"""Moving pods as a puzzle of whole numbers: what is free on each node, which pods may leave, what has to fit.

`Table` is a puzzle being solved: steps are taken and taken back.
"""

from collections.abc import Iterable

import msgspec

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


class Table:
    """A puzzle being solved: what is free now, who is still there, and the steps so far."""

    def __init__(self, puzzle: Puzzle) -> None:
        self.kinds = puzzle.kinds
        self.free = [list(sizes) for sizes in puzzle.free]
        self.here = [list(counts) for counts in puzzle.here]
        self.budgets = list(puzzle.budgets)
        self.sorts = puzzle.sorts or (0,) * len(puzzle.free)
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
        return source is not None and self.sorts[source] != self.sorts[node]

    def may_leave(self, node: int, kind: int) -> int:
        """How many pods of a kind may still leave a node."""
        budget = self.kinds[kind].budget
        there = self.here[node][kind]
        return there if budget is None else min(there, self.budgets[budget])

    def _add(self, node: int, kind: int, sign: int) -> None:
        free = self.free[node]
        for i, size in enumerate(self.kinds[kind].size):
            free[i] += sign * size


def copies_in(size: Sizes, free: Iterable[int]) -> int:
    """How many pods of a size fit into what is free; resources that they do not ask do not count."""
    return min((max(has, 0) // asked for has, asked in zip(free, size, strict=True) if asked > 0), default=0)
