"""Where MIG instances can lie on one GPU: which layouts exist, what still fits beside some, what is lost for good.

Two instances may coexist when their memory slices do not overlap and no profile is there more often than it may be.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from lockgate.mig.geometry import Board, Shape


class Placement(msgspec.Struct, frozen=True, order=True, gc=False):
    """An instance of a profile at a place: it covers memory slices `start` to `start + size - 1`."""

    start: int
    size: int
    name: str

    @property
    def covers(self) -> frozenset[int]:
        return frozenset(range(self.start, self.start + self.size))


Layout = tuple[Placement, ...]


def places(shape: Shape) -> tuple[Placement, ...]:
    """Every place where an instance of the profile may lie on an empty GPU."""
    return tuple(Placement(start, shape.size, shape.name) for start in shape.starts)


def free_places(board: Board, layout: Iterable[Placement]) -> tuple[Placement, ...]:
    """Every instance that could be added to a layout."""
    layout = tuple(layout)
    return tuple(p for shape in board.shapes for p in _free(shape, layout))


def layouts(board: Board, classic: bool = False) -> tuple[Layout, ...]:
    """Every layout that can exist, the empty one first; with `classic` the base profiles alone."""
    return tuple(sorted(_grow(_shapes(board, classic), (), 0), key=lambda layout: (len(layout), layout)))


def maximal_layouts(board: Board, classic: bool = False) -> tuple[Layout, ...]:
    """The layouts to which nothing can be added: 19 on an A100 with the base profiles."""
    shapes = _shapes(board, classic)
    return tuple(layout for layout in layouts(board, classic) if not _can_grow(shapes, layout))


def multiset(layout: Iterable[Placement]) -> tuple[tuple[str, int], ...]:
    """What a layout offers, without its places: profile names and counts, as a mig-parted configuration has them."""
    return tuple(sorted(Counter(placement.name for placement in layout).items()))


def find_layout(board: Board, wanted: Iterable[str], fixed: Iterable[Placement] = ()) -> Layout | None:
    """Places for all wanted profiles beside instances that stay; None when no order of them works.

    Raises KeyError for a name that the board does not have. Places that the fewest others could use are taken first.
    """
    shapes = sorted((_shape(board, name) for name in wanted), key=lambda shape: (len(shape.starts), -shape.size))
    return _search(tuple(shapes), tuple(fixed))


def leftover(board: Board, layout: Iterable[Placement]) -> int:
    """Memory slices that are free and that no profile of the board can use any more."""
    layout = tuple(layout)
    taken = frozenset[int]().union(*(placement.covers for placement in layout))
    usable = frozenset[int]().union(*(placement.covers for placement in free_places(board, layout)))
    return board.memory_slices - len(taken | usable)


def leftover_gb(board: Board, layout: Iterable[Placement]) -> int:
    """The same in gigabytes as profiles are named: seven 1g.5gb on an A100 of 40 GB leave 5."""
    return leftover(board, layout) * -(-board.total_mib // 1024) // board.memory_slices


def _shapes(board: Board, classic: bool) -> tuple[Shape, ...]:
    return tuple(shape for shape in board.shapes if shape.classic) if classic else board.shapes


def _shape(board: Board, name: str) -> Shape:
    shape = board.shape(name)
    if shape is None:
        raise KeyError(f"{board.key} has no MIG profile {name}; it has {', '.join(s.name for s in board.shapes)}")
    return shape


def _can_grow(shapes: tuple[Shape, ...], layout: Layout) -> bool:
    return any(True for shape in shapes for _ in _free(shape, layout))


def _free(shape: Shape, layout: Layout) -> Iterator[Placement]:
    if sum(placement.name == shape.name for placement in layout) >= shape.most:
        return iter(())
    taken = frozenset[int]().union(*(placement.covers for placement in layout))
    return (place for place in places(shape) if not place.covers & taken)


def _grow(shapes: tuple[Shape, ...], layout: Layout, start: int) -> Iterator[Layout]:
    """Every layout that goes on from this one with instances that begin at `start` or later."""
    yield layout
    for shape in shapes:
        for place in _free(shape, layout):
            if place.start >= start:
                yield from _grow(shapes, (*layout, place), place.start + place.size)


def _search(shapes: tuple[Shape, ...], layout: Layout) -> Layout | None:
    if not shapes:
        return tuple(sorted(layout))
    for place in _free(shapes[0], layout):
        if (found := _search(shapes[1:], (*layout, place))) is not None:
            return found
    return None
