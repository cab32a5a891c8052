"""Members of a folder or archive that are no files to be read: links, which may lead anywhere, pipes, devices, and
what the system does not let us open. Each is left out and said; the rest is read.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from lockgate.collect.errors import InputError
from lockgate.kit.counted import few
from lockgate.model.facts import LeftOut

LeaveOut = Callable[[str, str], None]
"""Called with the path of such a member and with what is the matter with it ("is a link to /x")."""

_LONGEST: Final = 100  # of a link's target
_COPY: Final = "links are not followed: put copies of the files there, readable for you (cp -rL FOLDER COPY, tar -h)"


def refusing(root: Path) -> LeaveOut:
    """Where a part is no answer: the whole is refused for such a member."""

    def refuse(path: str, why: str) -> None:
        raise InputError(f"{root}: {path} {why}; put a copy of the file there")

    return refuse


def ignore(path: str, why: str) -> None:
    """Where the files are only looked for."""


def link_to(target: str) -> str:
    """That a member is a link: it is not followed, wherever it leads."""
    return f"is a link to {target if len(target) <= _LONGEST else f'{target[:_LONGEST]}...'}"


class LeftMembers:
    """Those of one input, in the order in which they were met."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}

    def add(self, path: str, why: str) -> None:
        """Remember one; a LeaveOut."""
        self._found[path] = why

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._found.items())

    def told(self) -> Iterator[LeftOut]:
        """That they were not read, in one line; nothing where there are none."""
        if self._found:
            yield LeftOut("files", f"not read: {in_short(list(self))}", _COPY)


def in_short(found: Sequence[tuple[str, str]]) -> str:
    """The first of them with what is the matter, and how many more there are."""
    return few((f"{path} {why}" for path, why in found), between="; ")
