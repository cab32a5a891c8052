"""The fewest moves: as few as trying everything finds, never more than a first fit, and what was proven is true."""

from collections.abc import Iterator
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.capacity.fewest import Fewest
from lockgate.capacity.first_fit import first_fit
from lockgate.capacity.packing import Packing, pack
from lockgate.capacity.puzzle import Kind, Puzzle, Sizes

Pods = list[tuple[int, int]]  # node and kind of every pod that may leave


def puzzle(free: list[Sizes], pods: Pods, kinds: list[Kind], copies: int, budgets: Sizes = ()) -> Puzzle:
    here = tuple(tuple(pods.count((node, kind)) for kind in range(len(kinds))) for node in range(len(free)))
    return Puzzle(free=tuple(free), here=here, kinds=tuple(kinds), copies=copies, budgets=budgets)


def everywhere(nodes: int, *sizes: int) -> list[Kind]:
    return [Kind(size=(size,), homes=frozenset(range(nodes))) for size in sizes]


def pods_of(given: Puzzle) -> Pods:
    counts = ((n, k, count) for n, row in enumerate(given.here) for k, count in enumerate(row))
    return [(node, kind) for node, kind, count in counts for _ in range(count)]


def is_solution(given: Puzzle, leaving: tuple[tuple[int, int], ...], homes: tuple[int, ...]) -> bool:
    """Whether the copies and the pods that leave lie on these nodes without any of them, or a budget, overdrawn."""
    free = [list(sizes) for sizes in given.free]
    for node, kind in leaving:
        free[node] = [f + s for f, s in zip(free[node], given.kinds[kind].size, strict=True)]
    items = [*[(0, None)] * given.copies, *((kind, node) for node, kind in leaving)]
    touched: set[tuple[int, int]] = set()
    for (kind, source), home in zip(items, homes, strict=True):
        if home == source or home not in given.kinds[kind].homes:
            return False
        size = given.kinds[kind].size
        free[home] = [f - s for f, s in zip(free[home], size, strict=True)]
        touched |= {(home, i) for i, s in enumerate(size) if s > 0}
    used = [given.kinds[kind].budget for _, kind in leaving]
    within = all(used.count(budget) <= most for budget, most in enumerate(given.budgets))
    return within and all(free[node][i] >= 0 for node, i in touched)


def least_by_trying_everything(given: Puzzle) -> int | None:
    pods = pods_of(given)
    nodes = range(len(given.free))
    for count in range(len(pods) + 1):
        for leaving in combinations(pods, count):
            if any(is_solution(given, leaving, homes) for homes in product(nodes, repeat=given.copies + count)):
                return count
    return None


def check(given: Puzzle, packed: Packing) -> None:
    """The steps are a solution of the puzzle."""
    assert packed.steps is not None
    leaving = tuple((s.source, s.kind) for s in packed.steps if s.source is not None)
    assert all(list(leaving).count(pod) <= pods_of(given).count(pod) for pod in leaving)
    copies = [s.target for s in packed.steps if s.source is None]
    assert len(copies) == given.copies
    moved = [s.target for s in packed.steps if s.source is not None]
    assert is_solution(given, leaving, (*copies, *moved))


@st.composite
def puzzles(draw: st.DrawFn) -> Puzzle:
    nodes = draw(st.integers(1, 3))
    two = draw(st.booleans())
    sizes = st.tuples(st.integers(1, 4), st.integers(0, 2)) if two else st.tuples(st.integers(1, 4))
    homes = st.frozensets(st.integers(0, nodes - 1), min_size=1)
    budgets = draw(st.sampled_from([(), (1,), (2,)]))
    guard = st.sampled_from([None, *range(len(budgets))])
    kinds = [Kind(size=draw(sizes), homes=draw(homes), budget=draw(guard) if n else None) for n in range(3)]
    pods = draw(st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(1, 2)), max_size=4))
    left = st.integers(-1, 8)
    free = draw(st.lists(st.tuples(left, left) if two else st.tuples(left), min_size=nodes, max_size=nodes))
    return puzzle(free, pods, kinds, draw(st.integers(1, 2)), budgets)


@settings(max_examples=300, deadline=None)
@given(puzzles())
def test_as_few_moves_as_trying_everything_finds(given: Puzzle) -> None:
    packed = pack(given)
    assert packed.proven
    least = least_by_trying_everything(given)
    assert (None if packed.steps is None else len(packed.moves)) == least
    if packed.steps is not None:
        check(given, packed)


@settings(max_examples=300, deadline=None)
@given(puzzles())
def test_so_many_moves_are_enough_exactly_where_trying_everything_says_so(given: Puzzle) -> None:
    least = least_by_trying_everything(given)
    assert [Fewest(given, 100_000).solve(moves) for moves in range(5)] == [
        least is not None and least <= moves for moves in range(5)
    ]


@st.composite
def crowded(draw: st.DrawFn) -> Puzzle:
    """Larger ones, where the bound is met now and then."""
    nodes = draw(st.integers(2, 8))
    pods = draw(st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(1, 3)), max_size=20))
    free = [(draw(st.integers(0, 4)),) for _ in range(nodes)]
    return puzzle(free, pods, everywhere(nodes, draw(st.integers(2, 8)), 1, 2, 4), draw(st.integers(1, 4)))


@settings(max_examples=100, deadline=None)
@given(crowded(), st.sampled_from([0, 30, 3000]))
def test_never_more_moves_than_a_first_fit(given: Puzzle, tries: int) -> None:
    fallback, packed = first_fit(given), pack(given, tries)
    if fallback is not None:
        assert packed.steps is not None
        assert packed.least <= len(packed.moves) <= sum(step.source is not None for step in fallback)
    if packed.steps is not None:
        check(given, packed)
        assert not packed.proven or packed.least == len(packed.moves)


def moves(packed: Packing) -> Iterator[tuple[int, int | None, int]]:
    return ((step.kind, step.source, step.target) for step in packed.moves)


def test_a_chain_of_moves_over_several_nodes() -> None:
    """A 4 needs node 0, its 2 fits on node 1 only when the 1 there goes to node 2."""
    packed = pack(puzzle([(2,), (1,), (1,)], [(0, 2), (1, 1), (1, 1)], everywhere(3, 4, 1, 2), 1))
    assert sorted(moves(packed)) == [(1, 1, 2), (2, 0, 1)]
    assert packed.proven


def test_several_copies_share_the_moves() -> None:
    """Four nodes with a 2 and 2 free each: two copies of 4 need two of the 2s to move, three cannot be had."""
    halves = [(2,), (2,), (2,), (2,)], [(0, 1), (1, 1), (2, 1), (3, 1)], everywhere(4, 4, 2)
    packed = pack(puzzle(*halves, 2))
    assert (len(packed.moves), packed.proven) == (2, True)
    assert pack(puzzle(*halves, 3)) == Packing(steps=None, least=0, proven=True)


def test_one_large_pod_makes_room_for_several_copies() -> None:
    kinds = [Kind(size=(1,), homes=frozenset({0})), Kind(size=(2,), homes=frozenset({0, 1}))]
    given = puzzle([(0,), (2,)], [(0, 1)], kinds, 2)
    assert [Fewest(given, 1000).solve(moves) for moves in (0, 1)] == [False, True]


def test_what_is_not_asked_for_may_be_overdrawn() -> None:
    kinds = [Kind(size=(1, 0), homes=frozenset({0}))]
    assert pack(puzzle([(1, -5)], [], kinds, 1)).steps is not None


@pytest.mark.parametrize(("budget", "count"), [(0, None), (1, 1), (2, 1)])
def test_a_budget_is_never_overdrawn(budget: int, count: int | None) -> None:
    kinds = [
        Kind(size=(4,), homes=frozenset({0})),
        Kind(size=(2,), homes=frozenset({0, 1}), budget=0),
    ]
    packed = pack(puzzle([(2,), (2,)], [(0, 1)], kinds, 1, (budget,)))
    assert (None if packed.steps is None else len(packed.moves)) == count


def test_past_the_bound_it_is_said_what_was_proven() -> None:
    given = puzzle([(1,)] * 12, [(n, 1) for n in range(12)] * 3, everywhere(12, 4, 1), 3)
    packed = pack(given, most_tries=5)
    assert not packed.proven
    check(given, packed)
