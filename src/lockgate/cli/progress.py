"""How far `collect` has come, on standard error: a bar on a terminal, one line a step elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tell = Callable[[str], None]


@contextmanager
def telling(steps: int, *, quiet: bool) -> Iterator[Tell]:
    """A function that is told each step in words; `steps` is how many there will be at least."""
    if quiet:
        yield lambda line: None
    elif sys.stderr.isatty():
        with _bar(steps) as tell:
            yield tell
    else:
        yield _write


def _write(line: str) -> None:
    sys.stderr.write(f"{line}\n")


@contextmanager
def _bar(steps: int) -> Iterator[Tell]:
    """A bar below the lines that matter; a step that went well leaves no line of its own."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True, highlight=False)
    columns = (BarColumn(bar_width=30), TextColumn("{task.completed}/{task.total}"), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=steps)

        def tell(line: str) -> None:
            progress.update(task, advance=1, description=line.replace("[", "\\["))
            if "not read" in line or "left out" in line or "--probe" in line:
                console.print(line, markup=False)

        yield tell
