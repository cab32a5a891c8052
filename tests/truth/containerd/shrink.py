"""Makes a set of files on which the model is wrong as small as it can be while it stays wrong."""

from collections.abc import Callable, Iterator

from tests.truth.containerd.grammar import Files


def shrink(files: Files, still_wrong: Callable[[Files], bool]) -> Files:
    """The smallest set found by leaving out files and lines, again and again until nothing more can go."""
    while True:
        smaller = next((candidate for candidate in _smaller(files) if still_wrong(candidate)), None)
        if smaller is None:
            return files
        files = smaller


def _smaller(files: Files) -> Iterator[Files]:
    for path in sorted(files):
        yield {other: text for other, text in files.items() if other != path}
    for path, text in files.items():
        lines = text.splitlines(keepends=True)
        for size in (8, 4, 2, 1):
            if size < len(lines) or size == 1:
                for at in range(0, len(lines), size):
                    yield {**files, path: "".join(lines[:at] + lines[at + size :])}
