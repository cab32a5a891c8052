"""How the garbage collector is set where long lists are read."""

import gc


def collect_seldom() -> None:
    """Leave alone what is imported already, and look for cycles seldom: it halves the CPU time of large lists."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
