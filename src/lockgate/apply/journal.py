"""What an unfinished change of the node needs to be finished or taken back by whoever starts next, kept on the node.

A change is open from before its first write until its result is verified. Besides, the last change that failed is
remembered, so that it is not tried again and again on a node on which nothing changed since.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from lockgate.apply.files import Checkpoint, onward, remove_file, write_file


class FileChange(msgspec.Struct, frozen=True):
    """One file: what it should hold, and what to go back to; None: it is not there.

    `seen` is what it held when the change was planned: `before`, or the work of a change that was interrupted.
    """

    path: str
    before: bytes | None
    seen: bytes | None
    after: bytes | None


class Journal(msgspec.Struct, frozen=True):
    """`open` changes are in progress; `failed` is the fingerprint of a node on which a change failed with `message`.

    `stalls` counts changes in a row after which the runtime did not come back with its former files either.
    """

    open: tuple[FileChange, ...] = ()
    failed: str = ""
    message: str = ""
    stalls: int = 0


def read_journal(path: Path) -> Journal:
    """The journal; an empty one when there is none, or none that can be read (a disk that lied about its flush)."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Journal)
    except (FileNotFoundError, NotADirectoryError, msgspec.MsgspecError):
        return Journal()


def write_journal(path: Path, journal: Journal, *, checkpoint: Checkpoint = onward) -> None:
    """Keep the journal, flushed; an empty one leaves no file."""
    if journal == Journal():
        if path.exists():  # a read-only file system refuses to remove even what is not there
            remove_file(path, checkpoint=checkpoint)
    else:
        write_file(path, msgspec.json.encode(journal), mode=0o600, checkpoint=checkpoint)


class EditedError(Exception):
    """Someone else changed a file between our look at it and our write; the text names it."""


def apply_changes(changes: Iterable[FileChange], here: Mapping[str, Path], *, checkpoint: Checkpoint = onward) -> None:
    """Write and remove files, in order; `here` is where each path is reached. Done ones are skipped.

    Raises EditedError before it would overwrite what nobody planned with, and OSError; earlier files then stay changed.
    """
    for change in changes:
        if _read(here[change.path]) not in (change.seen, change.after):
            raise EditedError(f"{change.path} was edited by someone else just now")
        _put(here[change.path], change.after, checkpoint)


def take_back(
    changes: Sequence[FileChange], here: Mapping[str, Path], *, checkpoint: Checkpoint = onward
) -> tuple[str, ...]:
    """Put back what was there, the last first; returns the files that someone else has changed since: they stay."""
    foreign = []
    for change in reversed(changes):
        current = _read(here[change.path])
        if current == change.before:
            continue
        if current in (change.seen, change.after):
            _put(here[change.path], change.before, checkpoint)
        else:
            foreign.append(change.path)
    return tuple(foreign)


def _put(path: Path, content: bytes | None, checkpoint: Checkpoint) -> None:
    if content is None:
        remove_file(path, checkpoint=checkpoint)
    else:
        write_file(path, content, checkpoint=checkpoint)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
