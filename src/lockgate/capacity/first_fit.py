"""A first fit: each copy on the first node that can take it. Quick, seldom the fewest moves, and what the search begins
with.
"""

from lockgate.capacity.puzzle import Puzzle, Step, Table


def first_fit(puzzle: Puzzle) -> tuple[Step, ...] | None:
    """Each copy on the first node that can take it, and each pod that leaves for it on the first node with room."""
    table = Table(puzzle)
    for _ in range(puzzle.copies):
        if not any(_first_fit_on(table, node) for node in sorted(puzzle.kinds[0].homes)):
            return None
    return tuple(table.steps)


def _first_fit_on(table: Table, node: int) -> bool:
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


def _helps(table: Table, kind: int, lack: dict[int, int]) -> int:
    return sum(min(table.kinds[kind].size[i], short) for i, short in lack.items())
