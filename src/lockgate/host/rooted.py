"""A directory that stands for `/`: paths are looked up in it as a process would that has it as its root.

Symbolic links are followed, and never lead out: an absolute link starts again at the root, `..` stops there.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_LINKS: Final = 40  # as many as Linux follows


@dataclass(frozen=True, slots=True)
class Root:
    """A root directory on this machine, with paths inside it written as absolute text (`/usr/bin`)."""

    path: Path

    def resolve(self, inside: str) -> str | None:
        """The path inside without links, or None where nothing exists or links go round."""
        done: list[str] = []
        todo = [part for part in inside.split("/") if part not in ("", ".")][::-1]
        links = 0
        while todo:
            part = todo.pop()
            if part == "..":
                del done[-1:]
                continue
            target = self._link("/".join([*done, part]))
            if target is None:
                return None
            if target == "":
                done.append(part)
                continue
            links += 1
            if links > _LINKS:
                return None
            if target.startswith("/"):
                done = []
            todo.extend([p for p in target.split("/") if p not in ("", ".")][::-1])
        return "/" + "/".join(done)

    def _link(self, relative: str) -> str | None:
        """Where a link points, "" for what is no link, None for what does not exist."""
        try:
            mode = os.lstat(self.path / relative).st_mode
            return str((self.path / relative).readlink()) if stat.S_ISLNK(mode) else ""
        except (FileNotFoundError, NotADirectoryError):
            return None

    def outside(self, inside: str) -> Path:
        """Where a resolved path inside lies on this machine."""
        return self.path / inside.lstrip("/")

    def names(self, directory: str) -> Iterator[str]:
        """The sorted names in a directory, none where there is no such directory."""
        resolved = self.resolve(directory)
        if resolved is not None:
            try:
                yield from sorted(os.listdir(self.outside(resolved)))  # noqa: PTH208 - names only, of thousands
            except NotADirectoryError:
                return

    def find(self, directory: str, name: str, kind: int | None = stat.S_IFREG) -> str | None:
        """The resolved path of a name in a directory when it is of a kind (a stat type; None for any)."""
        resolved = self.resolve(f"{directory}/{name}")
        if resolved is None or kind is None:
            return resolved
        return resolved if stat.S_IFMT(os.lstat(self.outside(resolved)).st_mode) == kind else None
